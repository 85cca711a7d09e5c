import type { PoolId } from '../events/pool-event.ts';
import type { FiguredPool, TimeSpan } from '../trade-values/candle.ts';
import type { ValuedTrade } from '../trade-values/value-trade.ts';

export interface TradeSums {
  readonly buys: number;
  readonly sells: number;
  /** `DOLLAR` units. Null: a value is unknown. */
  readonly buyVolume: bigint | null;
  readonly sellVolume: bigint | null;
  /** Distinct. Null: not counted, or too many. */
  readonly buyers: number | null;
  readonly sellers: number | null;
  readonly wallets: number | null;
}

export const NO_TRADES: TradeSums = {
  ...{ buys: 0, sells: 0, buyVolume: 0n, sellVolume: 0n },
  ...{ buyers: 0, sellers: 0, wallets: 0 },
};

export interface PoolGroup {
  readonly key: string;
  readonly pools: readonly {
    readonly pool: FiguredPool;
    readonly isReversed: boolean;
  }[];
}

interface SidedTrades {
  readonly isBuy: boolean;
  readonly count: number;
  readonly value: bigint | null;
}

export interface SumsCollector {
  add(group: number, span: number, trades: SidedTrades): void;
  addTrade(pool: PoolId, spans: readonly number[], trade: ValuedTrade): void;
  addTrader(group: number, spans: readonly number[], isBuy: boolean, trader: string): void;
  sums(): ReadonlyMap<string, readonly TradeSums[]>;
}

/** `tradersMax`: distinct traders of all groups; with more, or null, none is counted. */
export function collectSums(
  groups: readonly PoolGroup[],
  spans: readonly TimeSpan[],
  tradersMax: number | null,
): SumsCollector {
  const collected = groups.map(() => spans.map(() => [emptySide(), emptySide()] as const));
  const traders = groups.map(() => new Map<string, number>());
  let room = tradersMax;
  const membersOf = new Map<PoolId, { readonly group: number; readonly isReversed: boolean }[]>();
  for (const [group, { pools }] of groups.entries())
    for (const { pool, isReversed } of pools) {
      const members = membersOf.get(pool.pool) ?? [];
      membersOf.set(pool.pool, [...members, { group, isReversed }]);
    }

  function add(group: number, span: number, { isBuy, count, value }: SidedTrades): void {
    const side = collected[group]?.[span]?.[isBuy ? 0 : 1];
    if (side === undefined) return;
    side.count += count;
    side.volume = side.volume === null || value === null ? null : side.volume + value;
  }

  function addTrader(group: number, of: readonly number[], isBuy: boolean, trader: string): void {
    const bitsOf = traders[group];
    if (room === null || bitsOf === undefined) return;
    const before = bitsOf.get(trader);
    if (before === undefined && --room < 0) {
      room = null;
      for (const map of traders) map.clear();
      return;
    }
    let bits = before ?? 0;
    for (const span of of) bits |= bitOf(span, isBuy);
    if (bits !== before) bitsOf.set(trader, bits);
  }

  return {
    ...{ add, addTrader },
    addTrade(pool, of, { isBuy, wallet, value }) {
      for (const { group, isReversed } of membersOf.get(pool) ?? []) {
        for (const span of of) add(group, span, { isBuy: isBuy !== isReversed, count: 1, value });
        addTrader(group, of, isBuy !== isReversed, wallet);
      }
    },
    sums: () =>
      new Map(
        groups.map(({ key }, group) => {
          const counts = countTraders(traders[group] ?? new Map(), spans.length, room !== null);
          const sums = spans.map((_, span) => {
            const [bought, sold] = collected[group]?.[span] ?? [emptySide(), emptySide()];
            const volumes = { buyVolume: bought.volume, sellVolume: sold.volume };
            return { buys: bought.count, sells: sold.count, ...volumes, ...(counts[span] ?? UNCOUNTED) };
          });
          return [key, sums];
        }),
      ),
  };
}

function emptySide(): { count: number; volume: bigint | null } {
  return { count: 0, volume: 0n };
}

const BITS_PER_SPAN = 2;

function bitOf(span: number, isBuy: boolean): number {
  return 1 << (BITS_PER_SPAN * span + (isBuy ? 0 : 1));
}

type TraderCounts = Pick<TradeSums, 'buyers' | 'sellers' | 'wallets'>;
const UNCOUNTED: TraderCounts = { buyers: null, sellers: null, wallets: null };

function countTraders(traders: ReadonlyMap<string, number>, spans: number, isCounted: boolean): TraderCounts[] {
  if (!isCounted) return Array.from({ length: spans }, () => UNCOUNTED);
  const counts = Array.from({ length: spans }, () => ({ buyers: 0, sellers: 0, wallets: 0 }));
  for (const bits of traders.values())
    for (const [span, count] of counts.entries()) {
      const isBuyer = (bits & bitOf(span, true)) !== 0;
      const isSeller = (bits & bitOf(span, false)) !== 0;
      count.buyers += Number(isBuyer);
      count.sellers += Number(isSeller);
      count.wallets += Number(isBuyer || isSeller);
    }
  return counts;
}
