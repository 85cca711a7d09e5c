import { createServer, get } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createMetricsRegistry, silentLogger, systemClock } from '@chainstead/core';
import {
  type AptosFaultSettings,
  type AptosFullnode,
  type AptosLedger,
  createAptosLedger,
  startAptosFullnode,
} from '@chainstead/testkit';
import { afterEach, describe, expect, it } from 'vitest';
import { FullnodesExhaustedError, VersionsPrunedError } from './errors.ts';
import { createFullnodeMetrics } from './fullnode-state.ts';
import { createFullnodes, type FullnodeLimits, type Fullnodes } from './fullnodes.ts';

const LEDGER = createAptosLedger({ transactions: [], head: 5_000 });
const NEVER = new AbortController().signal;

describe('fullnodes', () => {
  const running: { close(): Promise<void> }[] = [];

  afterEach(async () => {
    for (const each of running.splice(0).toReversed()) await each.close();
  });

  async function serve(
    faults: Partial<AptosFaultSettings> = {},
    ledger: AptosLedger = LEDGER,
    seed = 1,
  ): Promise<AptosFullnode> {
    const fullnode = await startAptosFullnode(ledger, { faults, seed });
    running.push(fullnode);
    return fullnode;
  }

  function open(
    urls: readonly string[],
    options: { apiKey?: string; limits?: Partial<FullnodeLimits> } = {},
  ): Fullnodes {
    const fullnodes = createFullnodes({
      network: 'mainnet',
      urls,
      logger: silentLogger(),
      clock: systemClock,
      metrics: createFullnodeMetrics(createMetricsRegistry()),
      ...options,
    });
    running.push(fullnodes);
    return fullnodes;
  }

  /** Reads all transactions page by page. @returns the versions */
  async function readAll(fullnodes: Fullnodes, from: number, to: number): Promise<number[]> {
    const versions: number[] = [];
    for (let next = from; next <= to; ) {
      const page = await fullnodes.page(next, Math.min(100, to - next + 1), null, NEVER);
      versions.push(...page.transactions.map(({ version }) => version));
      next = page.last + 1;
    }
    return versions;
  }

  const upTo = (last: number): number[] => Array.from({ length: last + 1 }, (_, version) => version);

  it('gives the ledger, pages and blocks, with and without /v1 at the end of the URL', async () => {
    const { url } = await serve();
    for (const given of [url, `${url}/`, `${url}/v1`, `${url}/v1/`]) {
      const fullnodes = open([given]);
      expect(await fullnodes.ledger(NEVER)).toEqual({ head: 5_000, oldest: 0 });
      expect(await fullnodes.block(105, NEVER)).toEqual({ height: 11, first: 101, last: 110 });
    }
    expect(await readAll(open([url]), 0, 250)).toEqual(upTo(250));
  });

  it('cuts a page down that is too large for a response', async () => {
    const { url, calls } = await serve();
    const fullnodes = open([url], { limits: { answerBytesMax: 20_000 } });
    expect(await readAll(fullnodes, 0, 200)).toEqual(upTo(200));
    expect(calls.transactions).toBeGreaterThan(3);
  });

  it('cuts a page down that a fullnode refuses as too large', async () => {
    const { url } = await serve();
    const proxy = createServer((request, response) => {
      if (Number(/limit=(\d+)/.exec(request.url ?? '')?.[1]) > 30) response.writeHead(413).end();
      else
        get(`${url.replace(/\/v1$/, '')}${request.url}`, (answer) => {
          response.writeHead(answer.statusCode ?? 500, answer.headers);
          answer.pipe(response);
        });
    });
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
    running.push({ close: () => new Promise((resolve) => proxy.close(() => resolve())) });
    const { port } = proxy.address() as AddressInfo;
    expect(await readAll(open([`http://127.0.0.1:${port}`]), 0, 200)).toEqual(upTo(200));
  });

  // Invariant: HTTP-BODY-BOUNDED
  it('leaves a fullnode alone that sends millions of empty lists', async () => {
    const { url } = await serve();
    const lists = `[${'[],'.repeat(7_000_000)}0]`;
    const liar = createServer((_, response) => response.writeHead(200).end(lists));
    await new Promise<void>((resolve) => liar.listen(0, '127.0.0.1', resolve));
    running.push({ close: () => new Promise((resolve) => liar.close(() => resolve())) });
    const { port } = liar.address() as AddressInfo;
    const fullnodes = open([`http://127.0.0.1:${port}`, url]);
    expect(await fullnodes.block(105, NEVER)).toEqual({ height: 11, first: 101, last: 110 });
    expect(await readAll(fullnodes, 0, 20)).toEqual(upTo(20));
    const [{ lastError, faults } = {}] = fullnodes.status();
    expect(lastError).toMatch(/^JSON holds more values than fit/);
    expect(faults).toMatchObject({ malformed: expect.any(Number) });
  });

  it('goes on where a fullnode gives shorter pages than asked for', async () => {
    const { url } = await serve({ pageMax: 7 });
    expect(await readAll(open([url]), 0, 100)).toEqual(upTo(100));
  });

  it.each<[string, Partial<AptosFaultSettings>]>([
    ['refusals', { throttleRate: 0.3 }],
    ['server errors', { serverErrorRate: 0.3 }],
    ['truncated bodies', { truncateRate: 0.3 }],
    ['closed connections', { dropRate: 0.3 }],
    ['gaps', { gapRate: 0.3 }],
    ['duplicate versions', { duplicateRate: 0.3 }],
    ['pages that begin elsewhere', { wrongStartRate: 0.3 }],
    ['empty pages', { emptyRate: 0.3 }],
  ])('gives the true versions despite %s', async (_, faults) => {
    const [faulty, other] = [await serve(faults), await serve({}, LEDGER, 2)];
    const fullnodes = open([faulty.url, other.url]);
    expect(await readAll(fullnodes, 0, 1_500)).toEqual(upTo(1_500));
    expect(Object.values(faulty.faults.injected).reduce((sum, count) => sum + count, 0)).toBeGreaterThan(0);
  });

  it('leaves a fullnode alone for as long as Retry-After says', async () => {
    const [busy, other] = [await serve({ throttleRate: 1, retryAfterSeconds: 300 }), await serve()];
    const fullnodes = open([busy.url, other.url]);
    await readAll(fullnodes, 0, 1_000);
    expect(busy.calls.transactions).toBe(1);
    expect(fullnodes.status()[0]).toMatchObject({ state: 'paused', faults: { throttled: 1 } });
  });

  it('stops asking when the rate-limit headers say that the budget is used up', async () => {
    const [limited, other] = [await serve({ budget: { calls: 3, seconds: 86_400 } }), await serve()];
    const fullnodes = open([limited.url, other.url]);
    await readAll(fullnodes, 0, 2_000);
    expect(limited.calls.transactions).toBe(3);
    expect(fullnodes.status()[0]?.faults).toEqual({});
  });

  it('asks another fullnode for what one does not have yet, or has no more', async () => {
    const [lagging, pruned, whole] = [await serve({ lag: 4_000 }), await serve({ oldest: 4_000 }), await serve()];
    const fullnodes = open([lagging.url, pruned.url, whole.url]);
    await fullnodes.ledger(NEVER);
    expect(await readAll(fullnodes, 2_000, 2_500)).toHaveLength(501);
    expect([lagging.calls.transactions, pruned.calls.transactions]).toEqual([undefined, undefined]);
  });

  it('names the oldest version when every fullnode has pruned what is asked for', async () => {
    const [one, two] = [await serve({ oldest: 4_000 }), await serve({ oldest: 3_000 })];
    const reading = open([one.url, two.url]).page(100, 100, null, NEVER);
    await expect(reading).rejects.toThrow(VersionsPrunedError);
    await expect(reading).rejects.toMatchObject({ oldest: 3_000, message: expect.stringContaining('is 3000') });
  });

  it('refuses a fullnode of another chain by name', async () => {
    const stranger = await serve({ chainId: 2 });
    const fullnodes = open([stranger.url]);
    await expect(fullnodes.ledger(NEVER)).rejects.toThrow(FullnodesExhaustedError);
    await expect(fullnodes.ledger(NEVER)).rejects.toThrow(`${stranger.url} serves chain id 2, and aptos has 1`);
    expect(fullnodes.status()[0]?.state).toBe('refused');
  });

  it('asks for less where a page is larger than what is accepted', async () => {
    const { url } = await serve();
    const fullnodes = open([url], { limits: { answerBytesMax: 20_000 } });
    const page = await fullnodes.page(0, 100, null, NEVER);
    expect(page.first).toBe(0);
    expect(page.last).toBeLessThan(99);
    expect(await readAll(fullnodes, 0, 200)).toEqual(upTo(200));
  });

  it('sends an API key, and shows neither it nor the path of a URL', async () => {
    const fullnode = await serve();
    const fullnodes = open([`${fullnode.url}/v1?token=hidden`], { apiKey: 'hidden-too' });
    await fullnodes.ledger(NEVER);
    expect(fullnode.authorization).toBe('Bearer hidden-too');
    expect(JSON.stringify(fullnodes.status())).not.toContain('hidden');
  });

  it('gives the root of another fullnode than the one named', async () => {
    const [one, two] = [await serve(), await serve({ forkFrom: 50 })];
    const fullnodes = open([one.url, two.url]);
    const reported = await fullnodes.page(0, 60, null, NEVER);
    const roots = await Promise.all([one, two].map(({ url }) => fullnodes.rootElsewhere(59, url, NEVER)));
    expect(roots.map((given) => given?.fullnode)).toEqual([two.url, one.url]);
    expect(new Set(roots.map((given) => given?.root)).size).toBe(2);
    expect(roots.map((given) => given?.root)).toContain(reported.root);
  });

  it('knows no other root where only one fullnode can say it', async () => {
    const [one, two] = [await serve(), await serve({ lag: 4_990 })];
    const fullnodes = open([one.url, two.url]);
    await fullnodes.ledger(NEVER);
    expect(await fullnodes.rootElsewhere(59, one.url, NEVER)).toBeNull();
  });
});
