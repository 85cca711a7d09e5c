import type { Address, Hex, Log } from '@chainstead/core';
import type { DefinedEvent } from '@chainstead/events/decoding';

/** Contract address, or 32-byte id at a pool manager: see {@link poolInVault}. */
export type PoolId = Hex;

/** Base units, positive into the pool. Fees on transfer are not in them. */
type PoolAmounts = SideAmounts | TokenAmounts;

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

interface StateEvent {
  readonly kind: 'state';
  readonly pool: PoolId;
  readonly state: PoolState;
}

export type PoolEvent = SwapEvent | LiquidityEvent | StateEvent;

export type EventLog = Pick<Log, 'address' | 'topics' | 'data'>;

/** Families share events: only the factory identifies the family of a pool. */
export interface PoolEventDecoder extends PoolEventKind {
  readonly event: Pick<DefinedEvent, 'abi' | 'topic'>;
  /** Null for another event, or values outside their types. */
  decode(log: EventLog): PoolEvent | null;
}

interface PoolEventKind {
  /** Forks emit equal events for pools of equal ids: only logs of known contracts count. */
  readonly isVault?: boolean;
  readonly hasState?: boolean;
}

/** @param toEvent gets the emitter, which is the pool unless a vault holds it */
export function poolEvent<Values>(
  event: DefinedEvent<Values>,
  kind: PoolEventKind,
  toEvent: (values: Values, emitter: Address) => PoolEvent | null,
): PoolEventDecoder {
  return {
    event,
    ...kind,
    decode(log) {
      const values = event.read(log);
      return values === null ? null : toEvent(values, log.address);
    },
  };
}
