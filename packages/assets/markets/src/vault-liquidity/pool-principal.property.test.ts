/** Tokens of positions while the price moves, against the formulas for one position (SqrtPriceMath.sol), each position alone. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createPoolPrincipal, MAX_TICK, MIN_TICK, sqrtPriceAtTick } from './read-tick-liquidity.ts';

const Q96 = 1n << 96n;
const someTick = fc.integer({ min: MIN_TICK, max: MAX_TICK - 1 });

/** A position, opened and partly closed, at the two ticks of the tuple. */
const somePosition = fc.record({
  ticks: fc
    .tuple(someTick, fc.oneof(fc.integer({ min: 1, max: 200 }), fc.integer({ min: 1, max: 2 * MAX_TICK })))
    .map(([lower, width]) => [lower, Math.min(MAX_TICK, lower + width)] as const),
  liquidity: fc.bigInt(1n, 1n << 110n),
});
const somePrice = fc.tuple(someTick, fc.double({ min: 0, max: 1, noNaN: true })).map(([tick, share]) => {
  const [low, high] = [sqrtPriceAtTick(tick), sqrtPriceAtTick(tick + 1)];
  return { tick, sqrtPriceX96: low + ((high - low - 1n) * BigInt(Math.floor(share * 1e6))) / 1_000_000n };
});

interface Position {
  readonly ticks: readonly [number, number];
  readonly liquidity: bigint;
}

/** Exact token 0 and token 1 of a position as fractions. */
function exactOf({ ticks: [lower, upper], liquidity }: Position, price: bigint) {
  const [a, b] = [sqrtPriceAtTick(lower), sqrtPriceAtTick(upper)];
  const at = price < a ? a : price > b ? b : price;
  return { token0: [liquidity * Q96 * (b - at), at * b], token1: liquidity * (at - a), at, a, b } as const;
}

/** Amounts that the contract pays for a position: rounded down. */
function paidFor(position: Position, price: bigint): readonly [bigint, bigint] {
  const { at, a, b } = exactOf(position, price);
  return [((position.liquidity << 96n) * (b - at)) / b / at, (position.liquidity * (at - a)) / Q96];
}

test('amounts are those of all positions, rounded down once, wherever the price came from', () => {
  fc.assert(
    fc.property(
      fc.array(somePosition, { minLength: 1, maxLength: 8 }),
      fc.array(somePrice, { minLength: 1, maxLength: 6 }),
      (positions, prices) => {
        const principal = createPoolPrincipal(positions.flatMap(({ ticks }) => ticks));
        const open: Position[] = [];
        prices.forEach((price, place) => {
          for (const [index, { ticks, liquidity }] of positions.entries()) {
            if (index % prices.length !== place) continue;
            // The first position is opened twice and closed once.
            for (const sign of index === 0 ? [1n, 1n, -1n] : [1n]) {
              principal.change({ tick: ticks[0], net: sign * liquidity });
              principal.change({ tick: ticks[1], net: -sign * liquidity });
            }
            open.push({ ticks, liquidity });
          }
          const { amounts, liquidity } = principal.at(price);
          const exact = open.map((one) => exactOf(one, price.sqrtPriceX96));
          expect(amounts[1]).toBe(exact.reduce((sum, { token1 }) => sum + token1, 0n) / Q96);
          const [numerator, denominator] = exact.reduce<readonly [bigint, bigint]>(
            ([n, d], { token0: [own, ownDenominator] }) => [n * ownDenominator + own * d, d * ownDenominator],
            [0n, 1n],
          );
          // Never more than the exact sum, and less by one unit at most.
          expect(amounts[0] <= numerator / denominator && amounts[0] + 1n >= numerator / denominator).toBe(true);
          const inRange = open.filter(({ ticks: [lower, upper] }) => lower <= price.tick && price.tick < upper);
          expect(liquidity).toBe(inRange.reduce((sum, one) => sum + one.liquidity, 0n));
        });
      },
    ),
  );
});

test('amounts are what the contract pays for a single position', () => {
  fc.assert(
    fc.property(somePosition, somePrice, (position, price) => {
      const principal = createPoolPrincipal(position.ticks);
      principal.change({ tick: position.ticks[0], net: position.liquidity });
      principal.change({ tick: position.ticks[1], net: -position.liquidity });
      const [own0, own1] = principal.at(price).amounts;
      const [paid0, paid1] = paidFor(position, price.sqrtPriceX96);
      // The contract rounds token 0 twice.
      expect([own0 - paid0 <= 1n && paid0 - own0 <= 1n, own1]).toEqual([true, paid1]);
    }),
  );
});

test('a closed pool is empty at every price, and a price on a tick counts on either side', () => {
  fc.assert(
    fc.property(somePosition, fc.array(somePrice, { maxLength: 5 }), ({ ticks, liquidity }, prices) => {
      const principal = createPoolPrincipal(ticks);
      const change = (sign: bigint): void => {
        principal.change({ tick: ticks[0], net: sign * liquidity });
        principal.change({ tick: ticks[1], net: -sign * liquidity });
      };
      change(1n);
      for (const [place, tick] of ticks.entries()) {
        const sqrtPriceX96 = sqrtPriceAtTick(tick);
        const { amounts } = principal.at({ sqrtPriceX96, tick });
        const other = principal.at({ sqrtPriceX96, tick: tick - 1 }).amounts;
        expect(other[1]).toBe(amounts[1]);
        expect([0n, 1n, -1n]).toContain(amounts[0] - other[0]);
        expect(amounts[place === 0 ? 1 : 0]).toBe(0n);
      }
      change(-1n);
      for (const price of prices) expect(principal.at(price)).toEqual({ liquidity: 0n, amounts: [0n, 0n] });
    }),
  );
});

test('a change at an unknown tick is refused', () => {
  expect(() => createPoolPrincipal([1]).change({ tick: 2, net: 1n })).toThrow(
    new RangeError("Tick 2 is not among the pool's"),
  );
});
