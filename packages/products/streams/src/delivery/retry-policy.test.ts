import { expect, test } from 'vitest';
import { requestedDelay, retryDelay } from './attempts.ts';
import { EXAMPLE_DELAYS_MS } from './testing/example-retries.ts';

test('the standard waits are those of the provider, then nothing more', () => {
  const minutes = [1, 2, 3, 4, 5, 6, 7, 8].map((failures) => retryDelay(EXAMPLE_DELAYS_MS, failures));
  expect(minutes.map((ms) => (ms === null ? null : ms / 60_000))).toEqual([
    1,
    10,
    60,
    120,
    360,
    720,
    1_440,
    null,
  ]);
});

test('a short schedule has as many retries as delays', () => {
  expect([1, 2, 3].map((failures) => retryDelay([5, 10], failures))).toEqual([5, 10, null]);
});

test('without retries the first failure is the last', () => {
  expect(retryDelay([], 1)).toBeNull();
});

test('a requested delay lengthens that of the schedule and never shortens it', () => {
  expect(retryDelay(EXAMPLE_DELAYS_MS, 1, 90_000)).toBe(90_000);
  expect(retryDelay(EXAMPLE_DELAYS_MS, 1, 30_000)).toBe(60_000);
  expect(retryDelay(EXAMPLE_DELAYS_MS, 8, 90_000)).toBeNull();
});

const NOW = new Date('2030-01-01T00:00:00Z');

test.each([
  [429, '90', 90_000],
  [503, ' 90 ', 90_000],
  [503, '0.5', 500],
  [429, 'Tue, 01 Jan 2030 00:02:00 GMT', 120_000],
  [503, 'Tuesday, 01-Jan-30 00:02:00 GMT', 120_000],
  [429, 'Mon, 31 Dec 2029 23:00:00 GMT', 0],
  [429, 'Wed, 02 Jan 2030 00:00:00 GMT', 3_600_000],
  [429, '86400', 3_600_000],
  [429, '9'.repeat(400), 3_600_000],
  [429, '0', 0],
  [429, '-90', 0],
  [429, 'soon', 0],
  [429, '', 0],
  [429, undefined, 0],
  [500, '90', 0],
  [302, '90', 0],
] as const)('HTTP %s with Retry-After %s requests %s ms', (httpStatus, retryAfter, expected) => {
  expect(requestedDelay({ httpStatus, ...(retryAfter !== undefined && { retryAfter }) }, NOW)).toBe(expected);
});
