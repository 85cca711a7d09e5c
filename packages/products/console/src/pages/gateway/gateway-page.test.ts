import { sql } from '@chainstead/db';
import { addUpstreamCalls } from '@chainstead/sync/ingest';
import { madeForFile, stageOfFile } from '@chainstead/testkit/hooks';
import { beforeAll, describe, expect, test } from 'vitest';
import { openConsoleStage } from '../../testing/console-stage.ts';

const stage = stageOfFile(() =>
  openConsoleStage({
    upstreams: [
      {
        ...{ chain: 'eth', name: 'good.example', address: 'wss://good.example' },
        ...{ requestsPerSecond: null, concurrency: null, isPrivate: false },
      },
    ],
  }),
);
const visitor = madeForFile(() => stage.signIn());
beforeAll(async () => {
  await stage.database.query(
    sql`INSERT INTO gateway_calls (hour, chain_id, method, calls, errors, cached, latency) VALUES
       (date_trunc('hour', now()), 1, 'eth_call', 60, 6, 30, '{0,0,0,0,0,0,30,0,0,0,0,0,0,0,0}'),
       (date_trunc('hour', now()) - interval '5 hours', 1, 'eth_call', 40, 0, 30, '{0,0,0,0,0,0,10,0,0,0,0,0,0,0,0}'),
       (date_trunc('hour', now()) - interval '30 hours', 1, 'eth_call', 900, 0, 0, '{}'),
       (date_trunc('hour', now()), 8453, '<script>alert(1)</script>', 5, 0, 5, '{}')`,
  );
  const calls = { chain: 'eth', role: 'api', busyMs: 10, latency: [0, 10, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0] };
  await addUpstreamCalls(stage.database, new Date(), [
    { ...calls, upstream: 'good.example', outcome: 'ok', calls: 10 },
    { ...calls, upstream: 'bad.example', outcome: 'ok', calls: 6 },
    { ...calls, upstream: 'bad.example', outcome: 'rate-limited', calls: 4, latency: [] },
    { ...calls, upstream: 'bad.example', role: 'ingest', outcome: 'timeout', calls: 1_000, latency: [] },
  ]);
});

const read = async (path: string): Promise<string> => (await stage.get(path, visitor)).text();

describe('the page of the gateway', () => {
  test('shows calls, what needed no upstream, errors and times by chain and method', async () => {
    const page = await read('/console/gateway');
    const row = /<tr><td><bdi>eth<\/bdi><\/td><td><code><bdi>eth_call[\s\S]*?<\/tr>/.exec(page)?.[0] ?? '';
    expect(row).toContain('value="100"');
    expect(row).toContain('60.0 %');
    expect(row).toContain('value="6"');
    expect(row).toContain('75 ms');
    expect(page).toContain('value="105"');
    expect(page).not.toContain('<script>alert');
  });

  test('shows the errors of upstreams as the API asked them, the worst first', async () => {
    const page = await read('/console/gateway');
    expect(page.indexOf('bad.example')).toBeLessThan(page.indexOf('good.example'));
    expect(page).toMatch(/bad\.example[\s\S]*?40\.0 %[\s\S]*?rate-limited 4/);
    expect(page).not.toContain('timeout');
    // With its configured scheme; of others only the name is known.
    expect(page).toContain('<bdi>wss://good.example</bdi>');
    expect(page).toContain('<bdi>bad.example</bdi>');
  });

  test('shows other hours and one chain, at an address that can be sent on', async () => {
    expect(await read('/console/gateway?hours=72')).toContain('value="1000"');
    const base = await read('/console/gateway?hours=24&chain=base');
    expect(base).not.toContain('eth_call');
    expect(base).toContain('data-plot="/console/gateway/calls.json?hours=24&amp;chain=base"');
    expect(base).not.toContain('Errors by upstream');
    expect(base).toMatch(/<option value="base" selected/);
  });

  test('says once that there are no calls', async () => {
    const page = await read('/console/gateway?chain=polygon');
    expect([page.match(/recorded/g), page.includes('data-plot=')]).toEqual([['recorded'], false]);
  });

  test('has the hours as a plot, those without calls as 0', async () => {
    const plot = JSON.parse(await read('/console/gateway/calls.json?hours=24'));
    expect(plot.labels).toEqual(['calls', 'served locally', 'errors']);
    expect(plot.times).toHaveLength(24);
    expect(plot.values[0].filter((calls: number) => calls > 0)).toEqual([40, 65]);
    expect(plot.values[2].at(-1)).toBe(6);
    const nothing = JSON.parse(await read('/console/gateway/calls.json?chain=polygon'));
    expect(nothing.times).toEqual([]);
  });

  test.each([['hours=2'], ['hours=-1'], ['chain=nowhere'], ['chain=%00']])(
    'refuses %s in words',
    async (query) => {
      for (const path of ['/console/gateway', '/console/gateway/calls.json'])
        expect((await stage.get(`${path}?${query}`, visitor)).status).toBe(400);
    },
  );
});
