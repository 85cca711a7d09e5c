/** Depths of concentrated liquidity: virtual reserves, later changes of liquidity, and balances over time. */
import { compareFractions, type Fraction, wholeFraction } from '@chainstead/core';
import type { BalanceSeries } from '@chainstead/erc20/requests';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { addLiquidityChanges, type LiquidityChange, type ReportedState } from './liquidity-in-range.ts';
import { addBalances, depthSourceOf } from './pool-history.ts';
import { type StateSince, sideDepths, virtualReserves } from './side-depths.ts';

const Q96 = 1n << 96n;
const price = (sqrtPriceX96: bigint, liquidity: bigint, tick = 0) =>
  ({ of: 'price', sqrtPriceX96, liquidity, tick }) as const;
const areEqual = (one: Fraction | undefined, other: Fraction): boolean =>
  one !== undefined && compareFractions(one, other) === 0;

/** Prices and liquidity that the pool's contract accepts. */
const somePrice = fc.bigInt(4_295_128_739n, (1n << 160n) - 1n);
const someLiquidity = fc.bigInt(1n, (1n << 128n) - 1n);

describe('virtual reserves', () => {
  test('have the price as their ratio, and the square of the liquidity as their product', () => {
    fc.assert(
      fc.property(somePrice, someLiquidity, (sqrtPriceX96, liquidity) => {
        const [x, y] = virtualReserves(price(sqrtPriceX96, liquidity));
        expect(x.numerator * y.numerator).toBe(liquidity ** 2n * x.denominator * y.denominator);
        const ratio = { numerator: y.numerator * x.denominator, denominator: y.denominator * x.numerator };
        expect(areEqual(ratio, { numerator: sqrtPriceX96 ** 2n, denominator: Q96 ** 2n })).toBe(true);
      }),
    );
  });

  test.each([
    [20_000n * Q96, 10n ** 16n, 5n * 10n ** 11n, 2n * 10n ** 20n],
    [Q96, 7n, 7n, 7n],
    [Q96 / 2n, 10n, 20n, 5n],
    [0n, 10n, 0n, 0n],
  ])('of √p %d and L %d are %d and %d', (sqrtPriceX96, liquidity, x, y) => {
    const [own0, own1] = virtualReserves(price(sqrtPriceX96, liquidity));
    expect([areEqual(own0, wholeFraction(x)), areEqual(own1, wholeFraction(y))]).toEqual([true, true]);
  });

  test('or balances are the depth, whichever are smaller; unknown balances are none', () => {
    const depths = (balances: StateSince['balances']) =>
      sideDepths({ block: 1, since: 1, state: price(Q96, 100n), balances }).map(
        ({ numerator, denominator }) => numerator / denominator,
      );
    expect(depths([40n, 1_000n])).toEqual([40n, 100n]);
    expect(depths([null, 60n])).toEqual([0n, 60n]);
  });
});

describe('liquidity in range', () => {
  const state = (block: number, logIndex: number, liquidity: bigint, tick: number): ReportedState => ({
    ...{ block, since: 10 * block, transactionIndex: 0, logIndex },
    state: price(Q96, liquidity, tick),
  });
  const change = (
    block: number,
    logIndex: number,
    liquidityDelta: bigint,
    range: readonly [number, number] = [-10, 10],
  ): LiquidityChange => ({
    ...{ block, since: 10 * block, transactionIndex: 0, logIndex, liquidityDelta },
    ...{ tickLower: range[0], tickUpper: range[1] },
  });
  const liquidities = (states: readonly ReportedState[], changes: readonly LiquidityChange[]) =>
    addLiquidityChanges(states, changes).map(({ block, state: found }) => [
      block,
      found.of === 'price' ? found.liquidity : null,
    ]);

  test('changes after a swap, within its block and later, until the next one', () => {
    const states = [state(1, 5, 100n, 0), state(4, 5, 70n, 0)];
    const changes = [
      change(1, 4, 1n),
      change(1, 6, 2n),
      change(2, 0, 30n),
      change(3, 0, -5n),
      change(4, 4, 9n),
      change(5, 0, 1n),
    ];
    expect(liquidities(states, changes)).toEqual([
      [1, 102n],
      [2, 132n],
      [3, 127n],
      [4, 70n],
      [5, 71n],
    ]);
  });

  test('includes the lower tick and not the upper one', () => {
    for (const [range, found] of [
      [[0, 10], 101n],
      [[-10, 1], 101n],
      [[-10, 0], 100n],
      [[1, 10], 100n],
    ] as const)
      expect(liquidities([state(1, 0, 100n, 0)], [change(1, 1, 1n, range)])).toEqual([[1, found]]);
  });
});

describe('balances of a pool', () => {
  const at = (block: number): StateSince => ({
    ...{ block, since: 10 * block, state: price(Q96, BigInt(block)) },
    balances: [null, null],
  });
  const series = (before: bigint, ...changes: readonly (readonly [number, bigint])[]): BalanceSeries => ({
    ...{ of: 'known', before, isOld: false },
    changes: changes.map(([block, balance]) => ({ block, since: 10 * block, balance })),
  });

  test('change with transfers and stay with swaps, one entry per block', () => {
    const found = addBalances([at(1), at(6)], [series(50n, [5, 40n], [6, 41n]), series(9n, [6, 8n], [7, 7n])]);
    expect(
      found.map(({ block, since, state, balances }) => [
        block,
        since,
        state.of === 'price' && state.liquidity,
        ...balances,
      ]),
    ).toEqual([
      [1, 10, 1n, 50n, 9n],
      [5, 50, 1n, 40n, 9n],
      [6, 60, 6n, 41n, 8n],
      [7, 70, 6n, 41n, 7n],
    ]);
  });

  test('before the first state of a young pool are part of it', () => {
    const found = addBalances([at(6)], [series(0n, [5, 40n]), series(0n, [6, 8n])]);
    expect(found.map(({ block, balances }) => [block, ...balances])).toEqual([[6, 40n, 8n]]);
  });

  test.each([
    ['known', series(1n), series(2n)],
    ['old', series(1n), { ...series(2n), isOld: true }],
    ['unread', series(1n), { of: 'unread' }],
    ['uncovered', { of: 'unread' }, { of: 'uncovered' }],
    // It has no depth whatever a later read returns.
    ['known', { of: 'unread' }, { of: 'live' }],
  ] as const)('are %s if their series are', (found, left, right) => {
    expect(depthSourceOf([left as BalanceSeries, right as BalanceSeries])).toBe(found);
  });
});
