import { expect, test } from 'vitest';
import { createByteBudget } from './byte-budget.ts';

function job(): { promise: Promise<void>; end: () => void } {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { promise, end: resolve };
}

test('no more runs at once than the answers before it let fit, and all run in the end', async () => {
  const budget = createByteBudget(100);
  budget.observe(40);
  const started: number[] = [];
  const jobs = [job(), job(), job(), job()];
  const runs = jobs.map(({ promise }, index) =>
    budget.run(() => {
      started.push(index);
      return promise;
    }),
  );
  expect(started).toEqual([0, 1]);
  jobs[0]?.end();
  await runs[0];
  expect(started).toEqual([0, 1, 2]);
  for (const { end } of jobs) end();
  await Promise.all(runs);
  expect(started).toEqual([0, 1, 2, 3]);
});

test('an answer larger than the whole budget is still asked for, alone', async () => {
  const budget = createByteBudget(100);
  budget.observe(5_000);
  await expect(budget.run(() => Promise.resolve('done'))).resolves.toBe('done');
});

test('work that fails frees its share', async () => {
  const budget = createByteBudget(10);
  budget.observe(10);
  await expect(budget.run(() => Promise.reject(new Error('no')))).rejects.toThrow('no');
  await expect(budget.run(() => Promise.resolve(1))).resolves.toBe(1);
});
