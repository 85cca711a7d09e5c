import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { hashRange } from './contract-nfts-route.ts';

const parts = fc
  .integer({ min: 1, max: 100 })
  .chain((totalRanges) =>
    fc.record({ totalRanges: fc.constant(totalRanges), range: fc.integer({ min: 1, max: totalRanges }) }),
  );

describe('a part of all token hashes', () => {
  test('is all of them where there is one part', () => {
    expect(hashRange({ range: 1, totalRanges: 1 })).toEqual({ from: Buffer.alloc(16), to: null });
  });

  test('begins rounded up', () => {
    const third = hashRange({ range: 2, totalRanges: 3 });
    expect(third.from.toString('hex')).toBe(`${'55'.repeat(15)}56`);
    expect(third.to?.toString('hex')).toBe(`${'aa'.repeat(15)}ab`);
  });

  test('begins where the one before it ends, and is as large as every other', () => {
    fc.assert(
      fc.property(parts, ({ range, totalRanges }) => {
        const { from, to } = hashRange({ range, totalRanges });
        const before = range === 1 ? Buffer.alloc(16) : hashRange({ range: range - 1, totalRanges }).to;
        expect(before).toEqual(from);
        expect(to === null).toBe(range === totalRanges);
        const end = to === null ? 2n ** 128n : BigInt(`0x${to.toString('hex')}`);
        const size = end - BigInt(`0x${from.toString('hex')}`);
        const share = 2n ** 128n / BigInt(totalRanges);
        expect(size === share || size === share + 1n).toBe(true);
      }),
    );
  });
});
