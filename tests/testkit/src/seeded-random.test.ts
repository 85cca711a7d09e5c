import { describe, expect, it } from 'vitest';
import { createSeededRandom } from './seeded-random.ts';

const draws = (seed: number, count: number): number[] => {
  const random = createSeededRandom(seed);
  return Array.from({ length: count }, () => random.next());
};

describe('createSeededRandom', () => {
  it('gives the same values for the same seed and others for another', () => {
    expect(draws(7, 20)).toEqual(draws(7, 20));
    expect(draws(7, 20)).not.toEqual(draws(8, 20));
  });

  it('forks streams that do not depend on what was drawn before', () => {
    const early = createSeededRandom(5).fork('blocks').next();
    const late = createSeededRandom(5);
    late.next();
    expect(late.fork('blocks').next()).toBe(early);
    expect(late.fork('logs').next()).not.toBe(early);
  });
});
