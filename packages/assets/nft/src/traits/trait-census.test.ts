import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { rarityFigures, traitFigures } from '../records/rarity-figures.ts';
import type { Trait } from '../records/trait.ts';
import { createTraitCounter, ranksOf, type TraitCensus } from './trait-census.ts';

type Token = readonly [id: string, traits: readonly Trait[]];

function census(tokens: readonly Token[]): TraitCensus {
  const counter = createTraitCounter();
  for (const [id, traits] of tokens) expect(counter.add(id, traits)).toBe(true);
  return counter.result();
}

const type = (value: string): Trait => ({ type: 'Type', value });
const rankedBy = ({ tokens }: TraitCensus) =>
  new Map(tokens.map(({ tokenId, score, rank }) => [tokenId, { score, rank }]));

test('the worked example: red, red, blue and nothing', () => {
  const { traits, tokens } = census([
    ['1', [type('red')]],
    ['2', [type('red')]],
    ['3', [type('blue')]],
    ['4', []],
  ]);
  expect(traits.map(({ value, count }) => [value, traitFigures(count, 4)])).toEqual([
    ['blue', { count: 1, percentage: 25, rarity_label: 'Top 25% trait' }],
    ['red', { count: 2, percentage: 50, rarity_label: 'Top 50% trait' }],
  ]);
  expect(tokens.map(({ score, rank }) => [score, rank])).toEqual([
    [2, 3],
    [2, 3],
    [4, 1],
    [4, 1],
  ]);
  expect(tokens.map(({ rank }) => rarityFigures(rank ?? 0, 4))).toEqual([
    { rarity_rank: 3, rarity_percentage: 75, rarity_label: 'Top 75%' },
    { rarity_rank: 3, rarity_percentage: 75, rarity_label: 'Top 75%' },
    { rarity_rank: 1, rarity_percentage: 25, rarity_label: 'Top 25%' },
    { rarity_rank: 1, rarity_percentage: 25, rarity_label: 'Top 25%' },
  ]);
});

describe('a collection', () => {
  test('without any trait has no ranks, one without ids has nothing', () => {
    expect(census([['1', []]])).toEqual({
      traits: [],
      tokens: [{ tokenId: '1', traits: [], score: 0, rank: null }],
    });
    expect(census([])).toEqual({ traits: [], tokens: [] });
  });

  test('whose ids have several traits of one type counts each, and no lack', () => {
    const { tokens } = census([
      ['1', [type('a'), type('b')]],
      ['2', [type('a')]],
    ]);
    // 2/2 + 2/1, and 2/2.
    expect(tokens.map(({ score, rank }) => [score, rank])).toEqual([
      [3, 1],
      [1, 2],
    ]);
  });

  test('has equal scores where shares that are cut off add up to the same', () => {
    // With 13 ids: 13/3 + 13/6 = 13/4 + 13/4, of which neither third nor sixth is a whole number of any part.
    const left = [...'aaabbbbcccccc'];
    const right = [...'xxxzzzzxxxyyy'];
    const { tokens } = census(
      left.map(
        (value, index): Token => [
          String(index),
          [
            { type: 'Left', value },
            { type: 'Right', value: right[index] ?? '' },
          ],
        ],
      ),
    );
    expect(tokens.map(({ rank }) => rank)).toEqual([1, 1, 1, 1, 1, 1, 1, 11, 11, 11, 1, 1, 1]);
  });

  test('with more traits than are counted is refused', () => {
    const counter = createTraitCounter({ pairsMax: 3 });
    expect(counter.add('1', [type('a'), type('b')])).toBe(true);
    expect(counter.add('2', [type('a'), type('b')])).toBe(false);
  });
});

test('equal scores share the better rank', () => {
  expect(ranksOf([5, 9, 5, 1])).toEqual([2, 1, 2, 4]);
});

const someTrait = fc.record({ type: fc.constantFrom('', 'A', 'B', 'C'), value: fc.constantFrom('1', '2', '3') });
const someTokens: fc.Arbitrary<readonly Token[]> = fc
  .array(fc.uniqueArray(someTrait, { selector: ({ type: of, value }) => `${of} ${value}`, maxLength: 6 }), {
    minLength: 1,
    maxLength: 40,
  })
  .map((tokens) => tokens.map((traits, id): Token => [String(id), traits]));

describe('of any collection', () => {
  test('what comes out does not depend on the order of ids and attributes', () => {
    fc.assert(
      fc.property(
        someTokens.chain((tokens) => fc.tuple(fc.constant(tokens), shuffled(tokens))),
        ([tokens, others]) => {
          const [one, other] = [census(tokens), census(others)];
          expect(other.traits).toEqual(one.traits);
          expect(rankedBy(other)).toEqual(rankedBy(one));
        },
      ),
    );
  });

  test('counts add up: of each type and its lack, of each id and its traits', () => {
    fc.assert(
      fc.property(someTokens, (tokens) => {
        const { traits, tokens: ranked } = census(tokens);
        const pairs = tokens.reduce((sum, [, own]) => sum + own.length, 0);
        expect(traits.reduce((sum, { count }) => sum + count, 0)).toBe(pairs);
        expect(ranked.reduce((sum, { traits: places }) => sum + places.length, 0)).toBe(pairs);
        for (const [index, { traits: places }] of ranked.entries())
          expect(
            places
              .map((place) => traits[place])
              .map((found) => `${found?.type} ${found?.value}`)
              .toSorted(),
          ).toEqual((tokens[index]?.[1] ?? []).map(({ type: of, value }) => `${of} ${value}`).toSorted());
        const sorted = traits.toSorted(
          (a, b) =>
            a.count - b.count || (a.type < b.type ? -1 : a.type > b.type ? 1 : a.value < b.value ? -1 : 1),
        );
        expect(traits).toEqual(sorted);
      }),
    );
  });

  test('scores are the sums of the contract, and ranks count how many are higher', () => {
    fc.assert(
      fc.property(someTokens, (tokens) => {
        const { tokens: ranked } = census(tokens);
        const expected = tokens.map(([, own]) => expectedScore(tokens, own));
        const hasTraits = tokens.some(([, own]) => own.length > 0);
        for (const [index, { score, rank }] of ranked.entries()) {
          expect(score).toBeCloseTo(expected[index] ?? 0, 4);
          const higher = ranked.filter((other) => other.score > score).length;
          expect(rank).toBe(hasTraits ? higher + 1 : null);
        }
      }),
    );
  });
});

/** The definition from the contract, without optimization. */
function expectedScore(tokens: readonly Token[], own: readonly Trait[]): number {
  const all = tokens.flatMap(([, traits]) => traits);
  const types = new Set(all.map((trait) => trait.type));
  const isOf = (traits: readonly Trait[], of: string): boolean => traits.some((trait) => trait.type === of);
  let score = 0;
  for (const { type: of, value } of own)
    score += tokens.length / all.filter((trait) => trait.type === of && trait.value === value).length;
  for (const of of types)
    if (!isOf(own, of)) score += tokens.length / tokens.filter(([, traits]) => !isOf(traits, of)).length;
  return score;
}

function shuffled(tokens: readonly Token[]): fc.Arbitrary<readonly Token[]> {
  return fc
    .shuffledSubarray([...tokens], { minLength: tokens.length, maxLength: tokens.length })
    .map((mixed) => mixed.map(([id, traits]): Token => [id, [...traits].reverse()]));
}
