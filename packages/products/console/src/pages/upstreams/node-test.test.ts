import { type Finding, findingsOf, type OnFinding } from '@chainstead/core';
import { madeForFile, stageOfFile } from '@chainstead/testkit/hooks';
import { beforeEach, describe, expect, test } from 'vitest';
import { openConsoleStage } from '../../testing/console-stage.ts';
import { findingsOfTest, type TestedNode } from './node-test.ts';

const finding = (subject: string): Finding => findingsOf(subject).ok(`found of ${subject}`);
const report = (...subjects: string[]): TestedNode => ({
  chain: 'eth',
  name: 'node.example',
  findings: subjects.map(finding),
  calls: 12,
  tookMs: 2_500,
});

/** The callback of the test in progress. */
let onFound: OnFinding | undefined;
let outcome: PromiseWithResolvers<TestedNode | null>;
beforeEach(() => {
  onFound = undefined;
  outcome = Promise.withResolvers();
});
const run = (onFinding: OnFinding): Promise<TestedNode | null> => {
  onFound = onFinding;
  return outcome.promise;
};

describe('findings of a test', () => {
  test('come one by one, also several at once, and the whole at the end', async () => {
    const findings = findingsOfTest(run);
    const first = findings.next();
    onFound?.(finding('a'));
    expect(await first).toEqual({ done: false, value: finding('a') });
    onFound?.(finding('b'));
    onFound?.(finding('c'));
    outcome.resolve(report('a', 'b', 'c'));
    expect([await findings.next(), await findings.next()].map(({ value }) => value)).toEqual([
      finding('b'),
      finding('c'),
    ]);
    expect(await findings.next()).toEqual({ done: true, value: report('a', 'b', 'c') });
  });

  test('come before what the test fails with', async () => {
    const findings = findingsOfTest(run);
    const first = findings.next();
    onFound?.(finding('a'));
    outcome.reject(new Error('broken'));
    expect(await first).toEqual({ done: false, value: finding('a') });
    await expect(findings.next()).rejects.toThrow('broken');
  });
});

describe('the page of a test', () => {
  const stage = stageOfFile(() =>
    openConsoleStage({
      nodeTest: { chains: ['eth'], run: (_chain, _url, onFinding = () => {}) => run(onFinding) },
    }),
  );
  const visitor = madeForFile(() => stage.signIn());

  /** Reads the page until it contains the text. */
  async function until(reader: ReadableStreamDefaultReader<string>, text: string): Promise<string> {
    let page = '';
    while (!page.includes(text)) {
      const { done, value } = await reader.read();
      if (done) throw new Error(`The page ended without ${text}`);
      page += value;
    }
    return page;
  }

  async function ask(): Promise<ReadableStreamDefaultReader<string>> {
    const fields = { chain: 'eth', url: 'https://node.example' };
    const requested = stage.post('/console/upstreams/test', fields, visitor, {
      origin: 'http://localhost',
      'sec-fetch-site': 'same-origin',
      'accept-encoding': 'gzip',
    });
    await expect.poll(() => onFound).toBeDefined();
    onFound?.(finding('chain id'));
    const answer = await requested;
    expect(answer.status).toBe(200);
    // Compression would buffer it.
    expect(answer.headers.get('content-encoding')).toBeNull();
    expect(answer.headers.get('cache-control')).toBe('no-store, no-transform');
    expect(answer.headers.get('content-security-policy')).toContain("default-src 'none'");
    if (answer.body === null) throw new Error('There is no body');
    return answer.body.pipeThrough(new TextDecoderStream()).getReader();
  }

  test('shows each finding as soon as there is one, and the verdict at the end', async () => {
    const reader = await ask();
    const begun = await until(reader, 'found of chain id');
    expect(begun).toContain('<title>Upstream test');
    expect(begun).not.toContain('found of head');
    onFound?.(finding('head'));
    const more = await until(reader, 'found of head');
    expect(more).not.toContain('Suitable for this chain');
    outcome.resolve(report('chain id', 'head'));
    const end = await until(reader, '</html>');
    expect(end).toContain('Suitable for this chain.');
    expect(end).not.toContain('found of head');
  });

  test('that breaks off says so where it stops', async () => {
    const reader = await ask();
    outcome.reject(new Error('a defect'));
    const page = await until(reader, '</html>');
    expect(page).toMatch(/<\/table><\/div><p class="problem" role="alert">The page was interrupted/);
    expect(page).not.toContain('a defect');
  });
});
