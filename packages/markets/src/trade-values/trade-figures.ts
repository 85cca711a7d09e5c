import type { Address } from '@chainstead/core';

/** Figures of the trades of a pool in a span of time. */
export interface TradeFigures {
  /** Number of trades that buy, and that sell, the base token. */
  readonly buys: number;
  readonly sells: number;
  /** Sums of their values in units of `DOLLAR`. Null: a value is unknown. */
  readonly buyVolume: bigint | null;
  readonly sellVolume: bigint | null;
  /** Senders of the transactions. */
  readonly buyers: ReadonlySet<Address>;
  readonly sellers: ReadonlySet<Address>;
}

export const NO_TRADES: TradeFigures = {
  ...{ buys: 0, sells: 0, buyVolume: 0n, sellVolume: 0n },
  ...{ buyers: new Set<Address>(), sellers: new Set<Address>() },
};

/** A trade by its bought token: the base token or the quote token. */
export interface ValuedTrade {
  readonly isBuy: boolean;
  readonly wallet: Address;
  /** Units of `DOLLAR`; null: unknown. */
  readonly value: bigint | null;
}

/** Returns the figures of some trades, in any order. */
export function figuresOf(trades: readonly ValuedTrade[]): TradeFigures {
  const [bought, sold] = [trades.filter(({ isBuy }) => isBuy), trades.filter(({ isBuy }) => !isBuy)];
  return {
    ...{ buys: bought.length, sells: sold.length, buyVolume: volumeOf(bought), sellVolume: volumeOf(sold) },
    buyers: new Set(bought.map(({ wallet }) => wallet)),
    sellers: new Set(sold.map(({ wallet }) => wallet)),
  };
}

/** Joins the figures of two spans. Associative and commutative. */
export function joinFigures(one: TradeFigures, other: TradeFigures): TradeFigures {
  return {
    buys: one.buys + other.buys,
    sells: one.sells + other.sells,
    buyVolume: sumOf(one.buyVolume, other.buyVolume),
    sellVolume: sumOf(one.sellVolume, other.sellVolume),
    buyers: one.buyers.union(other.buyers),
    sellers: one.sellers.union(other.sellers),
  };
}

function volumeOf(trades: readonly ValuedTrade[]): bigint | null {
  return trades.reduce((sum: bigint | null, { value }) => sumOf(sum, value), 0n);
}

function sumOf(one: bigint | null, other: bigint | null): bigint | null {
  return one === null || other === null ? null : one + other;
}
