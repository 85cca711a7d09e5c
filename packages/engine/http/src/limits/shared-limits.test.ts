import { scratchOfFile } from '@chainstead/testkit/hooks';
import { afterEach, describe, expect, test } from 'vitest';
import { createPostgresSpendingStore } from './postgres-spending-store.ts';
import { unreportedMax } from './shared-budget.ts';
import { createLocalLimits } from './shared-limits.ts';
import type { SpendingStore } from './spending-exchange.ts';
import { closeLimits, LONG_MS, newName, openLimits, spendMany } from './testing/open-limits.ts';

const scratch = scratchOfFile();
afterEach(closeLimits);

const open = (): SpendingStore => createPostgresSpendingStore({ database: scratch.database });

describe('a limit that processes share', () => {
  test('is spent exactly by one process that is alone', async () => {
    const { limits } = openLimits(open());
    const limit = limits.add({ name: newName(), budget: 60, windowMs: LONG_MS });
    expect(await spendMany(limits, limit, 50)).toBe(50);
    expect(await spendMany(limits, limit, 50)).toBe(10);
    expect(await spendMany(limits, limit, 50)).toBe(0);
  });

  test('is used up for a process that comes later, and asks nobody once that is known', async () => {
    const name = newName();
    const [first, second] = [openLimits(open()).limits, openLimits(open()).limits];
    const limit = first.add({ name, budget: 20, windowMs: LONG_MS });
    expect(await spendMany(first, limit, 30)).toBe(20);
    const same = second.add({ name, budget: 20, windowMs: LONG_MS });
    // One unit passes before the exchange.
    expect(await spendMany(second, same, 30)).toBe(1);
    const refused = second.spend([{ budget: same.budgetOf('key'), amount: 1 }]);
    expect(refused).toBeGreaterThan(0);
    expect(second.spend([{ budget: same.budgetOf('other'), amount: 1 }])).toBe(0);
  });

  test('lets a call pass at once whose key has spent little, without waiting for the store', async () => {
    const { limits } = openLimits(open());
    const limit = limits.add({ name: newName(), budget: 100, windowMs: LONG_MS });
    for (let call = 0; call < unreportedMax(100); call += 1)
      expect(limits.spend([{ budget: limit.budgetOf('key'), amount: 1 }])).toBe(0);
    expect(limits.spend([{ budget: limit.budgetOf('key'), amount: 1 }])).toBeInstanceOf(Promise);
  });

  test('spends of two budgets, or of none', async () => {
    const { limits } = openLimits(open());
    const wide = limits.add({ name: newName(), budget: 100, windowMs: LONG_MS });
    const narrow = limits.add({ name: newName(), budget: 3, windowMs: LONG_MS });
    const both = () => [
      { budget: wide.budgetOf('key'), amount: 10 },
      { budget: narrow.budgetOf('key'), amount: 1 },
    ];
    const waits: number[] = [];
    for (let call = 0; call < 6; call += 1) waits.push(await limits.spend(both()));
    expect(waits.filter((wait) => wait === 0)).toHaveLength(3);
    // Refused requests cost nothing: 70 of 100 are left.
    expect(await spendMany(limits, wide, 100)).toBe(70);
  });

  test('stores no more of a bucket than what was spent', async () => {
    const store = open();
    const bucket = `${newName()}:key`;
    await store.exchange([{ bucket, amount: 2, slotMs: 1_000 }]);
    const { now, buckets } = await store.exchange([
      { bucket, amount: 3, slotMs: 1_000 },
      { bucket: `${bucket}2`, amount: 1, slotMs: 250 },
    ]);
    const spending = buckets.get(bucket) ?? [];
    expect(spending.reduce((sum, { amount }) => sum + amount, 0)).toBe(5);
    for (const { slot } of spending) expect(Math.abs(slot - Math.floor(now / 1_000))).toBeLessThanOrEqual(1);
    expect(buckets.get(`${bucket}2`)).toEqual([{ slot: expect.any(Number), amount: 1 }]);
  });
});

test('a process without a store counts at once and alone', () => {
  const limits = createLocalLimits();
  const limit = limits.add({ name: 'local', budget: 3, windowMs: LONG_MS });
  const waits = Array.from({ length: 5 }, () => limits.spend([{ budget: limit.budgetOf('key'), amount: 1 }]));
  expect(waits.filter((wait) => wait === 0)).toHaveLength(3);
  expect(waits.filter((wait) => typeof wait === 'number' && wait > 0)).toHaveLength(2);
});
