import { createChainRegistry } from '@chainstead/chains';
import { type Address, type Hex, ZERO_ADDRESS } from '@chainstead/core';
import { addressOf } from '@chainstead/testkit';
import {
  decodeFunctionData,
  encodeAbiParameters,
  encodeFunctionResult,
  parseAbi,
  parseAbiParameters,
} from 'viem';
import { describe, expect, test } from 'vitest';
import { anchorsOf } from '../anchors/anchors-of-chain.ts';
import { withCustomExchanges } from '../exchanges/custom-exchanges.ts';
import { knownExchanges } from '../exchanges/exchanges-of-chain.ts';
import { FEES } from '../exchanges/factory-getters.ts';
import {
  type FactoryForm,
  formCalls,
  PRICED_FAMILIES,
  poolOfResult,
  poolQuestions,
  possibleForms,
  stateCalls,
  stateGettersOf,
  usableForm,
} from './find-pools.ts';

const factory = addressOf(0xfac);
const [TOKEN, ANCHOR] = [addressOf(0x20), addressOf(0x10)];
const ABI = parseAbi([
  'function getPair(address, address) view returns (address)',
  'function getPair(address, address, bool) view returns (address)',
  'function getPool(address, address, bool) view returns (address)',
  'function getPool(address, address, uint24) view returns (address)',
  'function getPool(address, address, int24) view returns (address)',
  'function poolByPair(address, address) view returns (address)',
  'function feeAmountTickSpacing(uint24) view returns (int24)',
]);

const formsOf = (family: string): readonly FactoryForm[] =>
  possibleForms(withCustomExchanges(5, [{ family, factory }]));

/** Getters and arguments of calls, as an independent decoder reads them. */
const decoded = (calls: readonly { readonly data: Hex }[]) =>
  calls.map(({ data }) => {
    const { functionName, args } = decodeFunctionData({ abi: ABI, data });
    return [functionName, ...args].map((part) =>
      String(part).startsWith('0x') ? String(part).toLowerCase() : part,
    );
  });

describe('questions for all pools of a token', () => {
  test.each([
    ['v2', [['getPair']]],
    [
      'solidly-1',
      [
        ['getPair', false],
        ['getPair', true],
      ],
    ],
    [
      'solidly-2',
      [
        ['getPool', false],
        ['getPool', true],
      ],
    ],
    ['v3', [...FEES, 1, 10, 50, 60, 80, 100, 200, 2_000, 5].map((tier) => ['getPool', tier])],
    ['v3-pancake', FEES.map((fee) => ['getPool', fee])],
    ['slipstream', [1, 10, 50, 60, 80, 100, 200, 2_000, 5].map((spacing) => ['getPool', spacing])],
    ['algebra', [['poolByPair']]],
    ['algebra-integral', [['poolByPair']]],
  ])('%s', (family, expected) => {
    const questions = poolQuestions(formsOf(family), [TOKEN], [ANCHOR]);
    expect(questions.every(({ to }) => to === factory)).toBe(true);
    // The lower address comes first.
    expect(decoded(questions)).toEqual(expected.map(([getter, ...tier]) => [getter, ANCHOR, TOKEN, ...tier]));
  });

  test('are not asked of exchanges whose pools set no price, nor of vaults', () => {
    for (const family of ['v4', 'infinity', 'balancer-2', 'curve', 'lb-2', 'v3-kyber-elastic'])
      expect(formsOf(family)).toEqual([]);
  });

  test('ask for each two tokens once, and never for the native one', () => {
    const questions = poolQuestions(formsOf('v2'), [TOKEN, ANCHOR, ZERO_ADDRESS], [ANCHOR, TOKEN, ZERO_ADDRESS]);
    expect(decoded(questions)).toEqual([['getPair', ANCHOR, TOKEN]]);
  });

  test('are few on Ethereum: those of a token take two calls of a hundred', () => {
    const chain = createChainRegistry().get('eth');
    // Factories enable four fees each, and have no getter by spacing.
    const forms = possibleForms(knownExchanges(1)).flatMap(({ tiers, ...form }) => {
      const [first = {}] = tiers;
      if (first.tickSpacing !== undefined) return [];
      return { ...form, tiers: first.fee === undefined ? tiers : tiers.slice(0, 4) };
    });
    const anchors = Object.values(anchorsOf(chain)).flat();
    expect(poolQuestions(forms, [TOKEN], anchors).length).toBeLessThan(200);
  });
});

describe('getters of a factory', () => {
  const word = (value: number): Hex => `0x${value.toString(16).padStart(64, '0')}`;

  test('are found by one call, and its kinds of pools by one each', () => {
    const [byFee, bySpacing] = formsOf('v3');
    if (byFee === undefined || bySpacing === undefined) throw new Error('v3 has two getters');
    const calls = formCalls(byFee);
    expect(decoded(calls.slice(1))).toEqual(FEES.map((fee) => ['feeAmountTickSpacing', fee]));
    expect(decoded(calls)[0]).toEqual(['getPool', addressOf(1), addressOf(2), FEES[0]]);
    expect(formCalls(bySpacing)).toHaveLength(1);
    const enabled = FEES.map((fee) => word(fee === 500 ? 10 : fee === 3_000 ? 60 : 0));
    expect(usableForm(byFee, [word(0), ...enabled])?.tiers).toEqual([{ fee: 500 }, { fee: 3_000 }]);
    // A fork may have no getter for its fees.
    expect(usableForm(byFee, [word(0), ...FEES.map(() => null)])?.tiers).toHaveLength(FEES.length);
    expect(usableForm(bySpacing, [null])).toBeNull();
    expect(usableForm(bySpacing, [`0x${'f'.repeat(64)}`])).toBeNull();
    expect(usableForm(bySpacing, [word(0)])?.tiers).toHaveLength(9);
  });

  test.each<[Hex | null, Address | null]>([
    [null, null],
    [word(0), null],
    ['0x', null],
    [`0x${'f'.repeat(64)}`, null],
    [word(0x77), addressOf(0x77)],
  ])('return a pool or none: %s', (returned, pool) => {
    expect(poolOfResult({ word: 0 }, returned)).toBe(pool);
  });
});

describe('the state of a pool', () => {
  const reserves = (one: bigint, other: bigint): Hex =>
    encodeFunctionResult({
      abi: parseAbi(['function getReserves() view returns (uint112, uint112, uint32)']),
      result: [one, other, 7],
    });
  const slot0 = (price: bigint, tick: number): Hex =>
    encodeFunctionResult({
      abi: parseAbi(['function slot0() view returns (uint160, int24, uint16, uint16, uint16, uint8, bool)']),
      result: [price, tick, 1, 2, 3, 4, true],
    });
  const globalState = (price: bigint, tick: number): Hex =>
    encodeAbiParameters(parseAbiParameters('uint160, int24, uint16, uint8, uint16, bool'), [
      price,
      tick,
      1,
      2,
      3,
      true,
    ]);
  const liquidity = (value: bigint): Hex => encodeAbiParameters(parseAbiParameters('uint128'), [value]);
  const price = { of: 'price', sqrtPriceX96: 5n << 90n, liquidity: 9n, tick: -887_272 };

  test.each([
    ...['v2', 'solidly-1', 'solidly-2'].map((family) => [
      ...[family, ['0x0902f1ac'], [reserves(3n, 4n)], { of: 'reserves', reserve0: 3n, reserve1: 4n }],
    ]),
    ...['v3', 'v3-pancake', 'slipstream'].map((family) => [
      ...[family, ['0x3850c7bd', '0x1a686502'], [slot0(5n << 90n, -887_272), liquidity(9n)], price],
    ]),
    ...['algebra', 'algebra-integral'].map((family) => [
      ...[family, ['0xe76c01e4', '0x1a686502'], [globalState(5n << 90n, -887_272), liquidity(9n)], price],
    ]),
  ] as [string, Hex[], Hex[], object][])('of %s follows from its getters', (family, data, results, state) => {
    const getters = stateGettersOf(family);
    expect(getters?.calls).toEqual(data);
    expect(getters?.decode(results)).toEqual(state);
    for (const bad of [
      [null, null],
      ['0x', '0x'],
      [results[0]?.slice(0, 66) as Hex, null],
    ])
      expect(getters?.decode(bad as Hex[])).toBeNull();
    if (getters !== null)
      expect(stateCalls([{ pool: TOKEN, getters }])).toEqual(data.map((one) => ({ to: TOKEN, data: one })));
  });

  test('is unknown before the first price, and in other families', () => {
    expect(stateGettersOf('v3')?.decode([slot0(0n, 0), liquidity(0n)])).toBeNull();
    expect(stateGettersOf('lb-2')).toBeNull();
    expect(PRICED_FAMILIES.filter((family) => stateGettersOf(family) === null)).toEqual([
      'v4',
      'infinity',
      'lb-1',
      'lb-2',
    ]);
    expect(PRICED_FAMILIES).toHaveLength(12);
  });
});
