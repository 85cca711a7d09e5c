import type { Address, Hex } from '@chainstead/core';

/**
 * Identifier of a pool: the address of its contract. Pools of a pool manager have no contract: there it is the 32-byte id that the
 * manager's events name (Uniswap v4, PancakeSwap Infinity, Balancer v2). Pools of a second manager of a family are identified by {@link poolInVault}.
 */
export type PoolId = Hex;

/**
 * Amounts of a swap or of a liquidity change, in base units and as the pool counts them: positive into the pool, negative out of it.
 * Fees on transfer are not included: the trader may have paid more or received less.
 */
export type PoolAmounts = SideAmounts | TokenAmounts;

/** Amounts of the pool's two tokens, which the event doesn't name. `token0 < token1` except in Liquidity Book. */
export interface SideAmounts {
  readonly of: 'sides';
  readonly amount0: bigint;
  readonly amount1: bigint;
}

/** Amounts of tokens that the event names, or of coins that it numbers. Both amounts are positive. */
export interface TokenAmounts {
  readonly of: 'tokens';
  /** Into the pool; null: the event doesn't name it. The zero address is the native token. */
  readonly tokenIn: Address | null;
  readonly tokenOut: Address | null;
  readonly amountIn: bigint;
  readonly amountOut: bigint;
}

/** State of a pool after an event, from which its price follows. */
export type PoolState = Reserves | ConcentratedState | ActiveBin;

/** Both reserves in base units (`Sync`). */
export interface Reserves {
  readonly of: 'reserves';
  readonly reserve0: bigint;
  readonly reserve1: bigint;
}

/** Square root of token1 per token0 in base units, times 2^96, with the liquidity in range. */
export interface ConcentratedState {
  readonly of: 'price';
  readonly sqrtPriceX96: bigint;
  readonly liquidity: bigint;
  readonly tick: number;
}

/** Active bin of a Liquidity Book pair. */
export interface ActiveBin {
  readonly of: 'bin';
  readonly activeId: number;
}

/** A trade with a pool. */
export interface SwapEvent {
  readonly kind: 'swap';
  readonly pool: PoolId;
  readonly amounts: PoolAmounts;
  /** Null: the event has no state. Pools with reserves emit it in a `Sync` directly before the swap. */
  readonly state: PoolState | null;
}

/** Liquidity that was added to a pool or removed from it. */
export interface LiquidityEvent {
  readonly kind: 'liquidity';
  readonly pool: PoolId;
  readonly change: 'add' | 'remove';
  /** Null: they follow from `range` and the price (Uniswap v4). */
  readonly amounts: SideAmounts | null;
  /** Ticks of concentrated liquidity and the signed change between them; null: a change of the whole pool. */
  readonly range: { readonly tickLower: number; readonly tickUpper: number; readonly liquidityDelta: bigint } | null;
}

/** State without a trade: reserves after any change of them, or the first price of a pool. */
export interface StateEvent {
  readonly kind: 'state';
  readonly pool: PoolId;
  readonly state: PoolState;
}

/** What an event says about a pool. */
export type PoolEvent = SwapEvent | LiquidityEvent | StateEvent;
