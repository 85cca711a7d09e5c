import { scratchOfFile } from '@chainstead/testkit/hooks';
import { afterEach, expect, test } from 'vitest';
import {
  createBackfillBudget,
  createNodeCallLimit,
  createWebhookCallLimit,
  spendNodeCalls,
} from './on-demand-budget.ts';
import { createPostgresSpendingStore } from './postgres-spending-store.ts';
import { createLocalLimits } from './shared-limits.ts';
import { closeLimits, openLimits } from './testing/open-limits.ts';

const scratch = scratchOfFile();
afterEach(closeLimits);

const store = () => createPostgresSpendingStore({ database: scratch.database });

/** Ten seconds of a rate of 4 calls are 40; backfills may have 30. */
function openBudget() {
  let seconds = 1_000_000;
  const limits = createLocalLimits({ now: () => seconds * 1_000 });
  return {
    budget: createBackfillBudget(limits, 4),
    pass(more: number) {
      seconds += more;
    },
  };
}

test('backfills leave a quarter of a key’s node calls to its requests', async () => {
  // A worker and an API, at a rate whose window does not pass during the test.
  const worker = createBackfillBudget(openLimits(store()).limits, 400);
  const runCounted = createNodeCallLimit(openLimits(store()).limits, 400);
  const spendOf = (key: string, calls: number) => runCounted(key, () => spendNodeCalls(calls));
  expect(worker.callsPerTurn).toBe(750);
  expect(await worker.take('ann', 3_000)).toBe(0);
  expect(await worker.take('ann', 1)).toBeGreaterThan(0);
  expect(await worker.take('bob', 3_000)).toBe(0);
  expect(await spendOf('ann', 1_000)).toBe(0);
  // Once the worker has reported its calls.
  await expect.poll(() => spendOf('ann', 1)).toBeGreaterThan(0);
});

test('a turn pays for the calls that it made, more or fewer than it took', async () => {
  const { budget } = openBudget();
  expect(await budget.take('ann', 7)).toBe(0);
  budget.settle('ann', -4);
  expect(await budget.take('ann', 27)).toBe(0);
  expect(await budget.take('ann', 1)).toBeGreaterThan(0);
  expect(await budget.take('bob', 7)).toBe(0);
  budget.settle('bob', 50);
  expect(await budget.take('bob', 1)).toBeGreaterThan(0);
});

test('backfills of a day make a quarter of the calls that the rate allows', async () => {
  const { budget, pass } = openBudget();
  const hours = 4 * 3_600;
  let taken = 0;
  for (let seconds = 0; seconds < 86_400 / 2; seconds += 11) {
    if ((await budget.take('ann', 30)) === 0) taken += 30;
    pass(11);
  }
  expect(taken).toBeGreaterThan(hours * 6 - 60);
  expect(taken).toBeLessThanOrEqual(hours * 6);
});

test('webhooks of a key make the calls of ten seconds, however many one of them needs', async () => {
  let seconds = 1_000_000;
  const limits = createLocalLimits({ now: () => seconds * 1_000 });
  const take = createWebhookCallLimit(limits, 4);
  expect(await createBackfillBudget(limits, 4).take('one', 30)).toBe(0);
  expect(await take('one', 2_000)).toBe(0);
  expect(await take('one', 1)).toBeGreaterThan(0);
  expect(await take('other', 40)).toBe(0);
  seconds += 20;
  expect(await take('one', 40)).toBe(0);
});
