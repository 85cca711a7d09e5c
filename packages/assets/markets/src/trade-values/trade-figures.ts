import type { Address } from '@chainstead/core';

export interface TradeFigures {
  readonly buys: number;
  readonly sells: number;
  /** `DOLLAR` units. Null: a value is unknown. */
  readonly buyVolume: bigint | null;
  readonly sellVolume: bigint | null;
  readonly buyers: ReadonlySet<Address>;
  readonly sellers: ReadonlySet<Address>;
}

export const NO_TRADES: TradeFigures = {
  ...{ buys: 0, sells: 0, buyVolume: 0n, sellVolume: 0n },
  ...{ buyers: new Set<Address>(), sellers: new Set<Address>() },
};

export interface ValuedTrade {
  readonly isBuy: boolean;
  readonly wallet: Address;
  readonly value: bigint | null;
}

export function figuresOf(trades: readonly ValuedTrade[]): TradeFigures {
  const [bought, sold] = [trades.filter(({ isBuy }) => isBuy), trades.filter(({ isBuy }) => !isBuy)];
  return {
    ...{ buys: bought.length, sells: sold.length, buyVolume: volumeOf(bought), sellVolume: volumeOf(sold) },
    buyers: new Set(bought.map(({ wallet }) => wallet)),
    sellers: new Set(sold.map(({ wallet }) => wallet)),
  };
}

export function joinFigures(earlier: TradeFigures, later: TradeFigures): TradeFigures {
  return {
    buys: earlier.buys + later.buys,
    sells: earlier.sells + later.sells,
    buyVolume: sumOf(earlier.buyVolume, later.buyVolume),
    sellVolume: sumOf(earlier.sellVolume, later.sellVolume),
    buyers: earlier.buyers.union(later.buyers),
    sellers: earlier.sellers.union(later.sellers),
  };
}

function volumeOf(trades: readonly ValuedTrade[]): bigint | null {
  return trades.reduce((sum: bigint | null, { value }) => sumOf(sum, value), 0n);
}

function sumOf(left: bigint | null, right: bigint | null): bigint | null {
  return left === null || right === null ? null : left + right;
}
