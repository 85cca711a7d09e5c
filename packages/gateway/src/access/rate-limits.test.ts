import { createMetricsRegistry, silentLogger } from '@chainstead/core';
import { createPostgresSpendingStore, createSharedLimits } from '@chainstead/http';
import { createScratchDatabase, type ScratchDatabase } from '@chainstead/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { result, startGatewayStage } from '../testing/gateway-stage.ts';

let scratch: ScratchDatabase;
beforeAll(async () => {
  scratch = await createScratchDatabase();
});
afterAll(() => scratch.drop());

const CALL = { jsonrpc: '2.0', id: 1, method: 'eth_getLogs', params: [{ fromBlock: '0x1', toBlock: '0x1' }] };

test('calls and batches to two processes spend of one budget, and of one limit of a method', async () => {
  const processes = await Promise.all(
    [1, 2].map(async () => {
      const sharedLimits = createSharedLimits({
        store: createPostgresSpendingStore({ database: scratch.database }),
        logger: silentLogger(),
        metrics: createMetricsRegistry(),
        // A machine that stalls doesn't make the store one that is away.
        timeoutMs: 30_000,
      });
      const stage = await startGatewayStage({
        answer: () => result([]),
        // Of so long a window nothing comes back while the test runs: 20 calls, and weight for all.
        limits: { windowMs: 1_000_000, weightPerSecond: 1_000, callsPerSecond: new Map([['eth_getLogs', 0.02]]) },
        sharedLimits,
      });
      return { stage, sharedLimits };
    }),
  );
  const batch = Array.from({ length: 15 }, (_, id) => ({ ...CALL, id }));
  const answers = await Promise.all(
    processes.map(async ({ stage }) => (await (await stage.post(batch)).json()) as readonly { error?: unknown }[]),
  );
  const accepted = answers.flat().filter(({ error }) => error === undefined).length;
  expect(answers.flat()).toHaveLength(30);
  expect(accepted).toBeGreaterThanOrEqual(20);
  let more = 0;
  for (const { stage } of processes) {
    let refused = await stage.post(CALL);
    // Each may let one through of which the other has not heard.
    if (refused.status === 200) {
      more += 1;
      refused = await stage.post(CALL);
    }
    expect(refused.status).toBe(429);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect((await stage.post({ ...CALL, method: 'eth_blockNumber', params: [] })).status).toBe(200);
  }
  expect(accepted + more).toBeLessThanOrEqual(22);
  const buckets = async () => {
    const rows = await scratch.database.query<{ bucket: string }>(
      `SELECT bucket FROM rate_spending WHERE starts_with(bucket, 'rpc:') ORDER BY bucket COLLATE "C"`,
    );
    return rows.map(({ bucket }) => bucket);
  };
  await expect.poll(buckets).toEqual(['rpc:eth_getLogs:open', 'rpc:open']);
  for (const { stage, sharedLimits } of processes) {
    await stage.close();
    await sharedLimits.close();
  }
});
