import { expect, test } from 'vitest';
import { retryDelay, STANDARD_RETRIES } from './retry-policy.ts';

test('the standard waits are those of the provider, then nothing more', () => {
  const minutes = [1, 2, 3, 4, 5, 6, 7, 8].map((failures) => retryDelay(STANDARD_RETRIES, failures));
  expect(minutes.map((ms) => (ms === null ? null : ms / 60_000))).toEqual([1, 10, 60, 120, 360, 720, 1_440, null]);
});

test('the last wait of a short schedule is that of all further attempts', () => {
  const policy = { retries: 3, delaysMs: [5, 10] as const };
  expect([1, 2, 3, 4].map((failures) => retryDelay(policy, failures))).toEqual([5, 10, 10, null]);
});

test('without retries the first failure is the last', () => {
  expect(retryDelay({ ...STANDARD_RETRIES, retries: 0 }, 1)).toBeNull();
});
