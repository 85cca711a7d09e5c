import type { Address, Hex } from '@chainstead/core';

/** Contract address, or 32-byte id at a pool manager: see {@link poolInVault}. */
export type PoolId = Hex;

/** Base units, positive into the pool. Fees on transfer are not in them. */
export type PoolAmounts = SideAmounts | TokenAmounts;

/** `token0 < token1` except in Liquidity Book. */
export interface SideAmounts {
  readonly of: 'sides';
  readonly amount0: bigint;
  readonly amount1: bigint;
}

/** Named by the event, or coins that it numbers. Both amounts are positive. */
export interface TokenAmounts {
  readonly of: 'tokens';
  /** Null: not named. The zero address is the native token. */
  readonly tokenIn: Address | null;
  readonly tokenOut: Address | null;
  readonly amountIn: bigint;
  readonly amountOut: bigint;
}

export type PoolState = Reserves | ConcentratedState | ActiveBin;

export interface Reserves {
  readonly of: 'reserves';
  readonly reserve0: bigint;
  readonly reserve1: bigint;
}

/** √(token1 per token0 in base units) · 2^96, and the liquidity in range. */
export interface ConcentratedState {
  readonly of: 'price';
  readonly sqrtPriceX96: bigint;
  readonly liquidity: bigint;
  readonly tick: number;
}

export interface ActiveBin {
  readonly of: 'bin';
  readonly activeId: number;
}

export interface SwapEvent {
  readonly kind: 'swap';
  readonly pool: PoolId;
  readonly amounts: PoolAmounts;
  /** Null: none. Pools with reserves emit it in a `Sync` directly before the swap. */
  readonly state: PoolState | null;
}

export interface LiquidityEvent {
  readonly kind: 'liquidity';
  readonly pool: PoolId;
  readonly change: 'add' | 'remove';
  /** Null: they follow from `range` and the price (Uniswap v4). */
  readonly amounts: SideAmounts | null;
  readonly range: {
    readonly tickLower: number;
    readonly tickUpper: number;
    readonly liquidityDelta: bigint;
  } | null;
}

export interface StateEvent {
  readonly kind: 'state';
  readonly pool: PoolId;
  readonly state: PoolState;
}

export type PoolEvent = SwapEvent | LiquidityEvent | StateEvent;
