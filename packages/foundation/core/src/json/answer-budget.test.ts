import { expect, test } from 'vitest';
import { createAnswerBudget } from './answer-budget.ts';

function job(): { promise: Promise<void>; end: () => void } {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { promise, end: resolve };
}

test('no more runs at once than the answers before it let fit, and all run in the end', async () => {
  const budget = createAnswerBudget({ bytesMax: 100 });
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
  const budget = createAnswerBudget({ bytesMax: 100 });
  budget.observe(5_000);
  await expect(budget.run(() => Promise.resolve('done'))).resolves.toBe('done');
});

test('work that fails frees its share', async () => {
  const budget = createAnswerBudget({ bytesMax: 10 });
  budget.observe(10);
  await expect(budget.run(() => Promise.reject(new Error('no')))).rejects.toThrow('no');
  await expect(budget.run(() => Promise.resolve(1))).resolves.toBe(1);
});

test('no more requests run at once than are allowed, however small their answers', async () => {
  const budget = createAnswerBudget({ bytesMax: 1_000, requestsMax: 2 });
  budget.observe(1);
  const jobs = [job(), job(), job()];
  let started = 0;
  const runs = jobs.map(({ promise }) =>
    budget.run(() => {
      started++;
      return promise;
    }),
  );
  expect(started).toBe(2);
  jobs[1]?.end();
  await runs[1];
  expect(started).toBe(3);
  for (const { end } of jobs) end();
  await Promise.all(runs);
});
