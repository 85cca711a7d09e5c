import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createSeededRandom, hashToUnit } from './seeded-random.ts';

const draws = (seed: number, count: number): number[] => {
  const random = createSeededRandom(seed);
  return Array.from({ length: count }, () => random.next());
};

describe('createSeededRandom', () => {
  it('gives the same values for the same seed and others for another', () => {
    expect(draws(7, 20)).toEqual(draws(7, 20));
    expect(draws(7, 20)).not.toEqual(draws(8, 20));
  });

  it('spreads its values evenly over [0, 1)', () => {
    const buckets = new Array<number>(10).fill(0);
    for (const value of draws(3, 100_000))
      buckets[Math.floor(value * 10)] = (buckets[Math.floor(value * 10)] ?? 0) + 1;
    for (const count of buckets) expect(Math.abs(count - 10_000)).toBeLessThan(500);
  });

  it('keeps integers inside their bounds and reaches both', () => {
    fc.assert(
      fc.property(fc.integer(), fc.integer({ min: -50, max: 50 }), fc.nat(5), (seed, min, span) => {
        const random = createSeededRandom(seed);
        const drawn = new Set(Array.from({ length: 400 }, () => random.integer(min, min + span)));
        expect([...drawn].toSorted((a, b) => a - b)).toEqual(Array.from({ length: span + 1 }, (_, i) => min + i));
      }),
      { numRuns: 30 },
    );
  });

  it('forks streams that do not depend on what was drawn before', () => {
    const early = createSeededRandom(5).fork('blocks').next();
    const late = createSeededRandom(5);
    late.next();
    expect(late.fork('blocks').next()).toBe(early);
    expect(late.fork('logs').next()).not.toBe(early);
  });

  it('skews indexes towards the low ones', () => {
    const random = createSeededRandom(1);
    const low = Array.from({ length: 10_000 }, () => random.skewedIndex(1_000, 3)).filter((index) => index < 10);
    expect(low.length / 10_000).toBeGreaterThan(0.18);
    expect(low.length / 10_000).toBeLessThan(0.25);
  });

  it('writes so many bytes of hexadecimal text', () => {
    fc.assert(
      fc.property(fc.integer(), fc.nat(70), (seed, bytes) => {
        expect(createSeededRandom(seed).hex(bytes)).toMatch(new RegExp(`^0x[0-9a-f]{${bytes * 2}}$`));
      }),
    );
  });

  it('refuses to pick from nothing', () => {
    expect(() => createSeededRandom(1).pick([])).toThrow(RangeError);
  });
});

describe('hashToUnit', () => {
  it('spreads texts that differ in one character evenly', () => {
    const below = Array.from({ length: 20_000 }, (_, i) => hashToUnit(`1/logs/0xabc/0x${i.toString(16)}`)).filter(
      (x) => x < 0.01,
    );
    expect(below.length).toBeGreaterThan(140);
    expect(below.length).toBeLessThan(260);
  });
});
