import type { Fraction } from '@chainstead/core';
import type { PoolState } from '../events/pool-event.ts';
import type { PoolFacts } from './pool-creation.ts';

interface PricedPool extends Pick<PoolFacts, 'isStable' | 'tickSpacing'> {
  /** Only for stable pairs. Null: unknown. */
  readonly decimals: readonly [number, number] | null;
}

/** Token 1 per token 0, base units, no fee (dexes.md 3). Null: empty, or unknown decimals. */
export function priceOf(state: PoolState, { isStable, tickSpacing, decimals }: PricedPool): Fraction | null {
  switch (state.of) {
    case 'reserves':
      if (state.reserve0 === 0n || state.reserve1 === 0n) return null;
      if (isStable !== true) return { numerator: state.reserve1, denominator: state.reserve0 };
      return decimals === null ? null : stablePrice(state.reserve0, state.reserve1, decimals);
    case 'price':
      return state.sqrtPriceX96 === 0n ? null : { numerator: state.sqrtPriceX96 ** 2n, denominator: 1n << 192n };
    case 'bin':
      return tickSpacing === null ? null : binPrice(state.activeId, tickSpacing);
  }
}

/** Slope of Solidly's x³y + xy³ in whole tokens: (3x²y + y³) / (x³ + 3xy²). */
function stablePrice(
  reserve0: bigint,
  reserve1: bigint,
  [decimals0, decimals1]: readonly [number, number],
): Fraction {
  const [unit0, unit1] = [10n ** BigInt(decimals0), 10n ** BigInt(decimals1)];
  const [x, y] = [reserve0 * unit1, reserve1 * unit0];
  return {
    numerator: (3n * x * x * y + y ** 3n) * unit1,
    denominator: (x ** 3n + 3n * x * y * y) * unit0,
  };
}

const ONE_X128 = 1n << 128n;
const MAX_UINT256 = (1n << 256n) - 1n;
const MIDDLE_BIN = 1 << 23;
const EXPONENT_MAX = 1 << 20;

/** (1 + binStep/10000)^(id − 2^23), rounded as `Uint128x128Math.pow` does. Null: out of range. */
function binPrice(activeId: number, binStep: number): Fraction | null {
  const exponent = Math.abs(activeId - MIDDLE_BIN);
  if (exponent >= EXPONENT_MAX) return null;
  if (exponent === 0) return { numerator: ONE_X128, denominator: ONE_X128 };
  let squared = MAX_UINT256 / (ONE_X128 + (BigInt(binStep) << 128n) / 10_000n);
  let inverse = ONE_X128;
  for (let bits = exponent; bits > 0; bits >>= 1) {
    if (bits % 2 === 1) inverse = (inverse * squared) >> 128n;
    squared = (squared * squared) >> 128n;
  }
  if (inverse === 0n) return null;
  const price = activeId > MIDDLE_BIN ? MAX_UINT256 / inverse : inverse;
  return { numerator: price, denominator: ONE_X128 };
}
