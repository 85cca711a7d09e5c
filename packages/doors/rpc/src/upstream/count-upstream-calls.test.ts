import { expect, test } from 'vitest';
import { node, startedPool } from '../testing/test-pool.ts';
import type { WrongAnswer } from '../upstream-pool.ts';
import { countUpstreamCalls, LATENCY_BOUNDS_MS } from './count-upstream-calls.ts';

test('what was asked of each upstream is told by what came of it, with times', async () => {
  const [first, second] = [await node(100), await node(100)];
  const pool = await startedPool([first, second]);
  const before = await countUpstreamCalls(pool.registry);
  first.script = ({ method }) => (method === 'eth_gasPrice' ? { http: { status: 502, body: 'no' } } : undefined);
  second.script = ({ method }) => (method === 'eth_gasPrice' ? { result: '0x1' } : undefined);
  for (let call = 0; call < 10; call++) await pool.request('eth_gasPrice', []);
  const after = await countUpstreamCalls(pool.registry);
  const callsOf = (counts: typeof after, name: string, outcome: string): number =>
    counts.find(({ upstream }) => upstream === name)?.outcomes.get(outcome) ?? 0;
  expect(callsOf(after, second.name, 'ok') - callsOf(before, second.name, 'ok')).toBeGreaterThanOrEqual(10);
  expect(callsOf(after, first.name, 'http-status')).toBe(first.count('eth_gasPrice'));
  for (const { chain, latency, busyMs, outcomes } of after) {
    expect([chain, latency.length]).toEqual(['eth', LATENCY_BOUNDS_MS.length + 1]);
    expect(latency.every((answers) => answers >= 0)).toBe(true);
    const answers = latency.reduce((sum, count) => sum + count, 0);
    expect(answers).toBeGreaterThan(0);
    expect(answers).toBeLessThanOrEqual([...outcomes.values()].reduce((sum, count) => sum + count, 0));
    expect(busyMs).toBeGreaterThanOrEqual(0);
  }
});

test('wrong answers are told to whoever wants to know, and failures are not', async () => {
  const reported: WrongAnswer[] = [];
  const liar = await node(100);
  const pool = await startedPool([liar], { onWrongAnswer: (answer) => reported.push(answer) });
  pool.reportFault(liar.name, 'timeout', {});
  pool.reportFault(liar.name, 'missing-logs', { block: 7, missing: 2 });
  expect(reported).toEqual([
    {
      chain: 'eth',
      upstream: liar.name,
      kind: 'missing-logs',
      method: 'verification',
      text: '{"block":7,"missing":2}',
      at: expect.any(Number),
    },
  ]);
});
