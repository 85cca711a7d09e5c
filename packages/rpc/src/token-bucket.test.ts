import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createTokenBucket } from './token-bucket.ts';

test('a burst goes at once, then the rate holds', () => {
  const bucket = createTokenBucket(10);
  for (let index = 0; index < 10; index++) expect(bucket.take(1, 0)).toBe(0);
  expect(bucket.take(1, 0)).toBe(100);
  expect(bucket.take(1, 0)).toBe(200);
  expect(bucket.take(1, 1_000)).toBe(0);
});

test('a batch takes as many tokens as it holds calls', () => {
  const bucket = createTokenBucket(10);
  expect(bucket.take(30, 0)).toBe(2_000);
});

test('over any time, no more calls are let go than burst and rate allow', () => {
  const calls = fc.array(fc.record({ after: fc.nat(500), n: fc.integer({ min: 1, max: 5 }) }), { minLength: 1 });
  fc.assert(
    fc.property(calls, fc.integer({ min: 1, max: 50 }), (list, rate) => {
      const bucket = createTokenBucket(rate);
      let now = 0;
      let sent = 0;
      let last = 0;
      for (const { after, n } of list) {
        now += after;
        last = Math.max(last, now + bucket.take(n, now));
        sent += n;
      }
      expect(sent).toBeLessThanOrEqual(Math.max(1, rate) + (rate * last) / 1000 + 1e-6);
    }),
  );
});
