import type { Address } from '@chainstead/core';

/** Figures of the trades of a pool in a span of time. */
export interface TradeFigures {
  /** Number of swaps that buy, and that sell, the base token. */
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

/** A swap by what it bought: the base token or the quote token. */
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

/** Joins the figures of two spans, or of two pools with the same base token. Associative and commutative. */
export function joinFigures(one: TradeFigures, other: TradeFigures): TradeFigures {
  return joinAllFigures([one, other]);
}

/** Joins the figures of any number of spans in one pass: sets of traders grow with each. */
export function joinAllFigures(parts: readonly TradeFigures[]): TradeFigures {
  const [buyers, sellers] = [new Set<Address>(), new Set<Address>()];
  let joined: Omit<TradeFigures, 'buyers' | 'sellers'> = NO_TRADES;
  for (const part of parts) {
    for (const buyer of part.buyers) buyers.add(buyer);
    for (const seller of part.sellers) sellers.add(seller);
    joined = {
      buys: joined.buys + part.buys,
      sells: joined.sells + part.sells,
      buyVolume: sumOf(joined.buyVolume, part.buyVolume),
      sellVolume: sumOf(joined.sellVolume, part.sellVolume),
    };
  }
  return { ...joined, buyers, sellers };
}

function volumeOf(trades: readonly ValuedTrade[]): bigint | null {
  return trades.reduce((sum: bigint | null, { value }) => sumOf(sum, value), 0n);
}

function sumOf(one: bigint | null, other: bigint | null): bigint | null {
  return one === null || other === null ? null : one + other;
}
