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
