import { type Fraction, smallerFraction, wholeFraction } from '@chainstead/core';
import type { ActiveBin, ConcentratedState, Reserves } from '@chainstead/markets/requests';

export type Sides<Value> = readonly [Value, Value];

export interface StateSince {
  readonly block: number;
  readonly since: number;
  readonly state: Reserves | ConcentratedState | ActiveBin;
  /** Base units; null: unknown. Liquidity Book: in bins up to 10 % away from the price. */
  readonly balances: Sides<bigint | null>;
}

const Q96 = 1n << 96n;

/** Base units of a constant product at price p: L/√p and L·√p. Bins: {@link BIN_RESERVE_MAX}. */
export function virtualReserves(state: StateSince['state']): Sides<Fraction> {
  if (state.of === 'reserves') return [wholeFraction(state.reserve0), wholeFraction(state.reserve1)];
  if (state.of === 'bin') return [BIN_RESERVE_MAX, BIN_RESERVE_MAX];
  const { sqrtPriceX96, liquidity } = state;
  if (sqrtPriceX96 === 0n) return [NONE, NONE];
  return [
    { numerator: liquidity * Q96, denominator: sqrtPriceX96 },
    { numerator: liquidity * sqrtPriceX96, denominator: Q96 },
  ];
}

/** Base units. Narrow liquidity costs little; balances may be out of range. Unknown: 0. */
export function sideDepths({ state, balances: [balance0, balance1] }: StateSince): Sides<Fraction> {
  const [virtual0, virtual1] = virtualReserves(state);
  return [
    smallerFraction(virtual0, wholeFraction(balance0 ?? 0n)),
    smallerFraction(virtual1, wholeFraction(balance1 ?? 0n)),
  ];
}

const NONE = wholeFraction(0n);

/** A pair stores its reserves in 136 bits. */
const BIN_RESERVE_MAX = wholeFraction((1n << 136n) - 1n);
