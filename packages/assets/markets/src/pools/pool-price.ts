import type { Chain } from '@chainstead/chains';
import { type Address, type Fraction, invertFraction, multiplyFractions } from '@chainstead/core';
import { sql } from '@chainstead/db';
import { anchorsOf, isQuotedIn0 } from '../anchors/anchors-of-chain.ts';
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

interface RatedPool extends Pick<PoolFacts, 'isStable' | 'tickSpacing'> {
  readonly decimals: readonly [number | null, number | null];
}

/** Whole tokens 1 per token 0. Null: the pool is empty, or decimals are unknown. */
export function wholePriceOf(
  state: PoolState,
  { isStable, tickSpacing, decimals: [decimals0, decimals1] }: RatedPool,
): Fraction | null {
  if (decimals0 === null || decimals1 === null) return null;
  const ratio = priceOf(state, { isStable, tickSpacing, decimals: [decimals0, decimals1] });
  if (ratio === null || ratio.numerator === 0n) return null;
  return multiplyFractions(ratio, { numerator: 10n ** BigInt(decimals0), denominator: 10n ** BigInt(decimals1) });
}

/** US dollars. `ratio`: whole tokens 1 per token 0. `usdOf` null: no anchor, or unknown. */
export function pricesInPool(
  chain: Chain,
  [token0, token1]: readonly [Address, Address],
  ratio: Fraction | null,
  usdOf: (token: Address) => Fraction | null,
): readonly [Fraction | null, Fraction | null] {
  const [own0, own1] = [usdOf(token0), usdOf(token1)];
  const isFrom0 = isQuotedIn0(token0, token1, anchorsOf(chain)) ? own0 !== null : own1 === null;
  if (isFrom0) return [own0, own0 && ratio && multiplyFractions(own0, invertFraction(ratio))];
  return [own1 && ratio && multiplyFractions(own1, ratio), own1];
}

export interface StateColumns {
  readonly reserve0: string | null;
  readonly reserve1: string | null;
  readonly sqrtPriceX96: string | null;
  readonly liquidity: string | null;
  readonly tick: number | null;
}

export const STATE_COLUMNS = sql`reserve0::text, reserve1::text, sqrt_price_x96::text, liquidity::text, tick`;

export function poolStateOf(row: StateColumns): PoolState | null {
  const { reserve0, reserve1, sqrtPriceX96: root, liquidity, tick } = row;
  if (reserve0 !== null && reserve1 !== null)
    return { of: 'reserves', reserve0: BigInt(reserve0), reserve1: BigInt(reserve1) };
  if (tick === null) return null;
  return root === null
    ? { of: 'bin', activeId: tick }
    : { of: 'price', sqrtPriceX96: BigInt(root), liquidity: BigInt(liquidity ?? 0), tick };
}
