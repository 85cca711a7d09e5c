import { sql } from '@chainstead/db';
import { listAudit } from '@chainstead/http';
import { addUpstreamCalls, addWrongAnswers } from '@chainstead/sync/ingest';
import { madeForFile, stageOfFile } from '@chainstead/testkit/hooks';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { openConsoleStage } from '../../testing/console-stage.ts';
import { seedChains } from '../../testing/seed-chains.ts';

const HOSTILE = `<script>alert(1)</script>\u202e${'x'.repeat(2_000)}`;

const stage = stageOfFile(() =>
  openConsoleStage({
    upstreams: [
      {
        ...{ chain: 'eth', name: 'node-a.example', address: 'https://node-a.example' },
        ...{ requestsPerSecond: 10, concurrency: 4, isPrivate: false },
      },
      {
        ...{ chain: 'eth', name: 'relay.example', address: 'https://relay.example' },
        ...{ requestsPerSecond: null, concurrency: null, isPrivate: true },
      },
    ],
    nodeTest: {
      chains: ['eth', 'base'],
      async run(chain, url) {
        tried.push(`${chain} ${url}`);
        if (chain === 'nowhere') return null;
        const finding = {
          subject: 'client',
          verdict: 'bad' as const,
          found: HOSTILE,
          meaning: 'It means.',
          remedy: 'Do it.',
        };
        return { chain, name: 'node.example', findings: [finding], calls: 12, tookMs: 2_500 };
      },
    },
  }),
);
const visitor = madeForFile(() => stage.signIn());
const tried: string[] = [];
beforeAll(async () => {
  await seedChains(stage.database, [1, 7]);
  await stage.database.query(
    sql`UPDATE sync_chains SET upstreams = ${JSON.stringify([
      {
        name: 'node-a.example',
        state: 'degraded',
        reason: HOSTILE,
        score: 0.4,
        head: 1_234,
        latencyMs: { p50: 5, p95: 9 },
        requests: 3,
        faults: {},
      },
    ])} WHERE chain_id = 1`,
  );
  const calls = { chain: 'eth', upstream: 'node-a.example', role: 'ingest' };
  await addUpstreamCalls(stage.database, new Date(), [
    { ...calls, outcome: 'ok', calls: 900, busyMs: 9_000, latency: [0, 900, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0] },
    { ...calls, outcome: 'timeout', calls: 100, busyMs: 0, latency: [] },
    {
      ...calls,
      role: 'api',
      outcome: 'ok',
      calls: 1_000,
      busyMs: 1_000,
      latency: [0, 1_000, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
    },
  ]);
});

const read = async (path: string): Promise<string> => (await stage.get(path, visitor)).text();

describe('the page of upstreams', () => {
  test('shows each node with its state, calls of all processes, errors and what is used of its budget', async () => {
    const page = await read('/console/upstreams');
    const row = /<tr><td class="name"><bdi>https:\/\/node-a\.example[\s\S]*?<\/tr>/.exec(page)?.[0] ?? '';
    expect(row).toContain('degraded');
    expect(row).toContain('<data class="n" value="1234">');
    expect(row).toContain('<data class="n" value="2000">');
    expect(row).toContain('5.0 %');
    expect(row).toContain('(timeout 100)');
    expect(row).toMatch(/\d of 10/);
    expect(page).toContain('private');
    expect(page).not.toContain('<script>alert');
  });

  test('lists who was caught in a wrong answer, by day and by block, page by page', async () => {
    const seenAt = new Date();
    const caught = Array.from({ length: 130 }, (_, index) => ({
      chain: 'eth',
      upstream: `liar-${index}`,
      kind: 'missing-logs',
      occurrences: 2,
      method: 'eth_getLogs',
      description: HOSTILE,
      // Many at the same moment.
      seenAt: new Date(seenAt.getTime() - Math.floor(index / 50) * 1_000),
    }));
    await addWrongAnswers(stage.database, seenAt, caught);
    await addWrongAnswers(stage.database, seenAt, caught.slice(0, 1));
    await stage.database.query(
      sql`INSERT INTO upstream_errors (chain_id, upstream, kind, block_number, facts) VALUES (7, 'liar-b', 'surplus-logs', 1500, '{"surplus": 3}')`,
    );
    const names = new Set<string>();
    let path = '/console/upstreams/wrong-answers';
    let pages = 0;
    for (; pages < 5; pages++) {
      const page = await read(path);
      for (const [, name = ''] of page.matchAll(/<bdi>(liar-\w+)<\/bdi>/g)) {
        expect(names.has(name), name).toBe(false);
        names.add(name);
      }
      const next = /href="([^"]+)" rel="next"/.exec(page)?.[1];
      if (next === undefined) break;
      path = next;
    }
    expect([names.size, pages]).toEqual([131, 1]);
    const first = await read('/console/upstreams/wrong-answers');
    expect(first).toMatch(/liar-b[\s\S]*?value="1500"/);
    expect(first).toMatch(/liar-0<[\s\S]*?value="4"/);
    expect(first.length).toBeLessThan(200_000);
    // The last result is shown for a second.
    await vi.waitFor(async () =>
      expect((await read('/console/upstreams')).includes('All wrong responses')).toBe(true),
    );
    expect((await stage.get('/console/upstreams/wrong-answers?before=x', visitor)).status).toBe(400);
  });

  test('tries a node, shows what was found, writes down who asked, and shows the address to nobody', async () => {
    const url = 'https://node.example/v2/secret-key';
    const answer = await stage.post('/console/upstreams/test', { chain: 'base', url }, visitor);
    const page = await answer.text();
    expect(answer.status).toBe(200);
    expect(page).toContain('Not suitable for this chain.');
    expect(page).toContain('&lt;script&gt;');
    expect(page).not.toMatch(/<script>alert|secret-key|\u202e/);
    expect(tried).toEqual([`base ${url}`]);
    const [record] = await listAudit(stage.database, null, 1);
    expect(record).toMatchObject({
      action: 'node.test',
      target: 'base',
      details: { node: 'https://node.example' },
      id: visitor.prefix,
    });
  });

  test.each([
    [{ chain: '', url: 'https://node.example' }, 'chain'],
    [{ chain: 'eth\0', url: 'https://node.example' }, 'chain'],
    [{ chain: 'nowhere', url: 'https://node.example' }, 'chain'],
    [{ chain: 'eth', url: 'file:///etc/secret-passwd' }, 'url'],
    [{ chain: 'eth', url: 'http://' }, 'url'],
    [{ chain: 'eth', url: `https://node.example/secret-${'x'.repeat(2_000)}` }, 'url'],
  ])('refuses %j by naming %s, and repeats no address', async (fields, parameter) => {
    const answer = await stage.post('/console/upstreams/test', fields, visitor);
    const page = await answer.text();
    expect([answer.status, page]).toEqual([400, expect.stringContaining(parameter)]);
    expect(page).not.toContain('secret');
  });

  test('sends nothing without a session and its token', async () => {
    const before = tried.length;
    const fields = { chain: 'eth', url: 'https://node.example' };
    expect((await stage.post('/console/upstreams/test', fields)).status).toBe(401);
    expect((await stage.post('/console/upstreams/test', { ...fields, token: 'wrong' }, visitor)).status).toBe(
      403,
    );
    expect(tried).toHaveLength(before);
  });

  test('tries two at once, and says when it does', async () => {
    const { bounded } = await import('./node-test.ts');
    const { promise, resolve } = Promise.withResolvers<null>();
    const test = bounded({ chains: [], run: () => promise });
    const running = [test.run('eth', 'a'), test.run('eth', 'b')];
    await expect(test.run('eth', 'c')).rejects.toMatchObject({ status: 503 });
    resolve(null);
    await Promise.all(running);
    await expect(test.run('eth', 'c')).resolves.toBeNull();
  });
});
