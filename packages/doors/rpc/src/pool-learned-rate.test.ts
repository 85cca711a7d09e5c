import { expect, test } from 'vitest';
import { rateLimited } from './testing/rate-limited.ts';
import { node, startedPool } from './testing/test-pool.ts';

const CALLS = 60;

test('a pool learns the rate of a node from its refusals, and reads the head before history', async () => {
  const limited = await node(1_000);
  const pool = await startedPool([limited]);
  const { script, refused } = rateLimited({ perSecond: 20 });
  limited.script = script;
  let done = 0;
  const history = Array.from({ length: CALLS }, async (_, block) => {
    await pool.getBlock(block, { background: true });
    done++;
  });
  await Promise.race(history);
  const first = done;
  await pool.getBlock(1_000);
  // Without precedence, it would come after all of them.
  expect(done - first).toBeLessThan(CALLS / 2);
  await Promise.all(history);
  const [status] = pool.status();
  expect(status?.learnedRate).toBeGreaterThan(2);
  expect(status?.learnedRate).toBeLessThan(40);
  // The calls in flight at the first refusal are refused together; afterwards hardly any is.
  expect(refused()).toBeLessThan(CALLS);
  expect(await pool.registry.metrics()).toMatch(/chainstead_rpc_rate_learned\{[^}]*\} [1-9]/);
});
