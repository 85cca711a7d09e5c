import fc from 'fast-check';
import { expect, test } from 'vitest';
import { backOffMs, parseRetryAfter } from './http-exchange.ts';

test('doubles up to the maximum, with half of it at random', () => {
  expect(backOffMs(0, 100, 5_000, 1)).toBe(100);
  expect(backOffMs(3, 100, 5_000, 1)).toBe(800);
  expect(backOffMs(3, 100, 5_000, 0)).toBe(400);
  expect(backOffMs(50, 100, 5_000, 1)).toBe(5_000);
});

test('never waits longer than the maximum nor less than half a step', () => {
  fc.assert(
    fc.property(
      fc.nat(100),
      fc.integer({ min: 1, max: 1_000 }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      (tries, base, random) => {
        const wait = backOffMs(tries, base, 60_000, random);
        expect(wait).toBeGreaterThanOrEqual(base / 2);
        expect(wait).toBeLessThanOrEqual(60_000);
      },
    ),
  );
});

test('Retry-After is read as seconds or as a date', () => {
  const now = Date.parse('2026-11-20T10:00:00Z');
  expect(parseRetryAfter('3', now)).toBe(3_000);
  expect(parseRetryAfter('Fri, 20 Nov 2026 10:00:30 GMT', now)).toBe(30_000);
  expect(parseRetryAfter('Fri, 20 Nov 2026 09:00:00 GMT', now)).toBe(0);
  expect(parseRetryAfter('soon', now)).toBeUndefined();
  expect(parseRetryAfter(undefined, now)).toBeUndefined();
});
