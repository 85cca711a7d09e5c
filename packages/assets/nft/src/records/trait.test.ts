import { describe, expect, test } from 'vitest';
import { contract } from '../transfers/testing/example-moves.ts';
import { normalizeMetadata } from './normalized-metadata.ts';
import { TRAIT_LENGTH_MAX, TRAITS_PER_TOKEN_MAX, traitKey, traitsOf } from './trait.ts';

const traits = (attributes: unknown): unknown => traitsOf(normalizeMetadata({ attributes }).attributes);

describe('the traits of a document', () => {
  test('are texts, numbers and booleans by their text', () => {
    expect(
      traits([
        { trait_type: 'Background', value: 'Blue' },
        { trait_type: 'Level', value: 12, display_type: 'number', max_value: 20 },
        { trait_type: 'Share', value: 0.5 },
        { trait_type: 'Alive', value: true },
        { value: 'Rare' },
        { trait_type: null, value: 'Old' },
        'bare',
      ]),
    ).toEqual([
      { type: 'Background', value: 'Blue' },
      { type: 'Level', value: '12' },
      { type: 'Share', value: '0.5' },
      { type: 'Alive', value: 'true' },
      { type: '', value: 'Rare' },
      { type: '', value: 'Old' },
      { type: '', value: 'bare' },
    ]);
  });

  test('are there once, though a type may have several values', () => {
    expect(
      traits([
        { trait_type: 'Hat', value: '1' },
        { trait_type: 'Hat', value: 1 },
        { trait_type: 'Hat', value: 'Cap' },
        { trait_type: 'hat', value: 'Cap' },
      ]),
    ).toEqual([
      { type: 'Hat', value: '1' },
      { type: 'Hat', value: 'Cap' },
      { type: 'hat', value: 'Cap' },
    ]);
  });

  test('are no objects, lists, nothings or dates', () => {
    expect(
      traits([
        { trait_type: 'Object', value: { a: 1 } },
        { trait_type: 'List', value: ['a'] },
        { trait_type: 'Nothing', value: null },
        { trait_type: 'Missing' },
        { trait_type: 'Born', value: 1_546_360_800, display_type: 'date' },
        null,
        ['a'],
      ]),
    ).toEqual([]);
    expect(traits('Blue')).toEqual([]);
    expect(traits({ Background: 'Blue' })).toEqual([]);
  });

  test('are fit for the database: no NUL, no half of a pair', () => {
    expect(traits([{ trait_type: 'a\0b', value: 'c\ud800' }])).toEqual([{ type: 'ab', value: 'c\ufffd' }]);
  });

  test('are neither prose nor without number', () => {
    const long = 'x'.repeat(TRAIT_LENGTH_MAX);
    expect(
      traits([
        { trait_type: long, value: long },
        { trait_type: 'a', value: `${long}x` },
        { trait_type: `${long}x`, value: 'a' },
      ]),
    ).toEqual([{ type: long, value: long }]);
    expect(traits(Array.from({ length: 1_000 }, (_, value) => ({ trait_type: 'n', value })))).toHaveLength(
      TRAITS_PER_TOKEN_MAX,
    );
  });
});

test('the key of a trait tells type and value apart', () => {
  const keys = [
    { type: 'a', value: 'b' },
    { type: 'ab', value: '' },
    { type: '', value: 'ab' },
    { type: 'a","b', value: '' },
    { type: 'a', value: '","b' },
  ].map((trait) => traitKey(contract(1), trait).toString('hex'));
  expect(new Set(keys).size).toBe(5);
  expect(traitKey(contract(2), { type: 'a', value: 'b' }).toString('hex')).not.toBe(keys[0]);
  expect(keys.every((key) => key.length === 32)).toBe(true);
});
