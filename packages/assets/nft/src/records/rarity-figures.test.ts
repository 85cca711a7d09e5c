import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { percentageOf, rarityFigures, traitFigures } from './rarity-figures.ts';

describe('percentages', () => {
  test.each([
    [1_242, 10_000, 12.42, 'Top 13% trait'],
    [1, 3, 33.33, 'Top 34% trait'],
    [2, 3, 66.67, 'Top 67% trait'],
    [1, 8, 12.5, 'Top 13% trait'],
    [1, 50_000, 0, 'Top 1% trait'],
    // Half of a hundredth rounds up.
    [1, 20_000, 0.01, 'Top 1% trait'],
    [10_000, 10_000, 100, 'Top 100% trait'],
    [12_000, 100_000, 12, 'Top 12% trait'],
  ])('of %i in %i is %d, "%3$s"', (count, tokens, percentage, label) => {
    expect(traitFigures(count, tokens)).toEqual({ count, percentage, rarity_label: label });
  });

  test('of a rank are its place in the collection', () => {
    expect(rarityFigures(98, 100)).toEqual({ rarity_rank: 98, rarity_percentage: 98, rarity_label: 'Top 98%' });
    expect(rarityFigures(1, 10_000)).toEqual({ rarity_rank: 1, rarity_percentage: 0.01, rarity_label: 'Top 1%' });
  });

  test('are the nearest hundredth', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 100_000 }), fc.nat(100_000), (whole, given) => {
        const part = Math.min(given, whole);
        const hundredths = Math.round(percentageOf(part, whole) * 100);
        // |hundredths / 10,000 − part / whole| ≤ half of 1 / 10,000, in whole numbers.
        expect(Math.abs(hundredths * whole - part * 10_000) * 2).toBeLessThanOrEqual(whole);
        expect(percentageOf(part, whole)).toBe(hundredths / 100);
      }),
    );
  });
});
