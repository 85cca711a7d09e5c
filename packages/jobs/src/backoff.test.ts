import fc from 'fast-check';
import { expect, test } from 'vitest';
import { delaySchedule, exponentialBackoff } from './backoff.ts';
import { decodeJobId, encodeJobId } from './job-id.ts';

test('exponential back-off doubles up to its maximum, less up to half', () => {
  const longest = exponentialBackoff({ baseMs: 100, maxMs: 1_000, random: () => 0 });
  expect([1, 2, 3, 4, 5, 50].map(longest)).toEqual([100, 200, 400, 800, 1_000, 1_000]);
  const shortest = exponentialBackoff({ baseMs: 100, maxMs: 1_000, random: () => 1 });
  expect([1, 2, 5].map(shortest)).toEqual([50, 100, 500]);
});

test('a delay schedule repeats its last delay', () => {
  expect([1, 2, 3, 9].map(delaySchedule([10, 60, 600]))).toEqual([10, 60, 600, 600]);
});

test('any id survives the encoding, which has nothing that BullMQ refuses', () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom('%', ':', '2', '5', '3', 'A', '=', '1', 'x') }), (id) => {
      const encoded = encodeJobId(id);
      expect(encoded).not.toContain(':');
      expect(encoded).not.toBe(String(Number.parseInt(encoded, 10)));
      expect(decodeJobId(encoded)).toBe(id);
    }),
  );
});
