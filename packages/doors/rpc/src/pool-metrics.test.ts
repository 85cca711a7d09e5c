import { expect, test } from 'vitest';
import { errorOf, node, startedPool } from './testing/test-pool.ts';

test('a fault reported by a higher layer is counted and lowers the score', async () => {
  const one = await node(100);
  const pool = await startedPool([one]);
  const before = pool.status()[0]?.score ?? 0;
  pool.reportFault(one.name, 'missing-logs', { block: 5 });
  expect(pool.status()[0]?.score).toBeLessThan(before);
  expect(await pool.registry.metrics()).toContain(
    `chainstead_rpc_faults_total{chain="eth",upstream="${one.name}",kind="missing-logs"} 1`,
  );
});

test('an upstream whose budget is used up tells for how long it is asked nothing', async () => {
  const [spent, other] = [await node(100), await node(100)];
  const pool = await startedPool([spent, other]);
  const pauseOf = async ({ name }: { readonly name: string }): Promise<number> =>
    Number(
      new RegExp(`^chainstead_rpc_pause_seconds\\{chain="eth",upstream="${name}"\\} (\\S+)$`, 'm').exec(
        await pool.registry.metrics(),
      )?.[1],
    );
  expect([await pauseOf(spent), await pauseOf(other)]).toEqual([0, 0]);
  const used = { error: { code: 429, message: 'Monthly capacity limit exceeded' } };
  spent.script = ({ method }) => (method === 'eth_gasPrice' ? used : undefined);
  await errorOf(pool.request('eth_gasPrice', [], { only: spent.name }));
  expect(await pauseOf(spent)).toBeGreaterThan(50);
  expect(await pauseOf(other)).toBe(0);
});

test('requests, latency, heads and circuits are in the metrics, and methods of strangers are not labels', async () => {
  const one = await node(100);
  const pool = await startedPool([one]);
  await errorOf(pool.request('eth_evil{"x"}', []));
  const text = await pool.registry.metrics();
  expect(text).toContain(
    `chainstead_rpc_requests_total{chain="eth",upstream="${one.name}",method="eth_chainId",outcome="ok"}`,
  );
  expect(text).toContain(`chainstead_rpc_upstream_head{chain="eth",upstream="${one.name}"} 100`);
  expect(text).toContain(`chainstead_rpc_circuit_state{chain="eth",upstream="${one.name}"} 0`);
  expect(text).toContain(`chainstead_rpc_in_flight{chain="eth",upstream="${one.name}"} 0`);
  expect(text).toContain('chainstead_rpc_request_duration_seconds_bucket');
  expect(text).not.toContain('evil');
});

test('a closed pool leaves no gauge of its upstreams', async () => {
  const one = await node(100);
  const pool = await startedPool([one]);
  const gauges = async (): Promise<readonly string[]> =>
    (await pool.registry.metrics())
      .split('\n')
      .filter((line) => /^chainstead_rpc_(in_flight|pause_seconds|turns_waiting|rate_learned)\b.*\{/.test(line));
  expect(await gauges()).not.toEqual([]);
  await pool.close();
  expect(await gauges()).toEqual([]);
});
