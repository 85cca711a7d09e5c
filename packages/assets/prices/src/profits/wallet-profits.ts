import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import type { ReadDatabase } from '@chainstead/db';
import { shownToken } from '@chainstead/markets/requests';
import type { Indexed } from '@chainstead/pages';
import { addTrade, emptyProfitSum, type ProfitSum } from './profit-sum.ts';
import {
  firstBlockOfNewest,
  type Party,
  readTrades,
  readTradesSpan,
  type Trade,
  type TradesPart,
} from './trades/read-trades.ts';
import type { TradePosition } from './trades/trades-statement.ts';

export interface WalletProfitsQuery {
  readonly wallet: Address;
  /** Null: all tokens. */
  readonly tokens: readonly Address[] | null;
  /** Length of the window; null: all trades. */
  readonly days: number | null;
}

export interface WalletProfits {
  readonly sums: ReadonlyMap<Address, ProfitSum>;
  /** `complete` is also false if a trade has no known value, or its pool may have a proof later. */
  readonly indexed: Indexed;
  readonly known: Pick<Indexed, 'fromBlock' | 'toBlock'>;
  readonly unvalued: number;
  readonly unvaluedBlocks: readonly number[];
}

const UNVALUED_BLOCKS_MAX = 1_000;

export interface WalletSums {
  readonly sums: Map<Address, ProfitSum>;
  /** False: swaps are left out, or may become trades later. */
  isWhole: boolean;
  unvalued: number;
  unvaluedBlocks: readonly number[];
  last: TradePosition | null;
}

export function emptyWalletSums(isWhole: boolean): WalletSums {
  return { sums: new Map(), isWhole, unvalued: 0, unvaluedBlocks: [], last: null };
}

/** From the newest swaps as sender or beneficiary. Holds a sum per token. */
export async function readWalletProfits(
  database: ReadDatabase,
  chain: Chain,
  { wallet, tokens, days }: WalletProfitsQuery,
  { swapsMax }: { readonly swapsMax: number },
): Promise<WalletProfits> {
  const { indexed, newestTime } = await readTradesSpan(database, chain, wallet);
  const lastBlock = indexed.toBlock ?? -1;
  const subject = { kind: 'wallet', wallet } as const;
  const firstBlock = await firstBlockOfNewest(database, chain, subject, { lastBlock, tradesMax: swapsMax });
  const summed = emptyWalletSums(firstBlock === 0);
  const windowFrom = windowStart(newestTime, days);
  for await (const part of readTrades(database, chain, { subject, firstBlock, lastBlock }))
    addPart(summed, part, { tokens: shownTokens(tokens, chain), windowFrom });
  return profitsOf(summed, indexed);
}

export function shownTokens(tokens: readonly Address[] | null, chain: Chain): ReadonlySet<Address> | null {
  return tokens === null ? null : new Set(tokens.map((token) => shownToken(token, chain)));
}

/** Adds swaps to sums, in place. @param windowFrom Unix seconds */
export function addPart(
  summed: WalletSums,
  { trades, undecided, last }: TradesPart,
  { tokens, windowFrom }: { readonly tokens: ReadonlySet<Address> | null; readonly windowFrom: number },
): void {
  const isWanted = (token: Address | null) => token === null || (tokens?.has(token) ?? true);
  if (undecided.some(isWanted)) summed.isWhole = false;
  const unvaluedBlocks = [...summed.unvaluedBlocks];
  for (const trade of trades) {
    const sides = trade.parties.flatMap((party) => sidesOf(trade, party)).filter(({ token }) => isWanted(token));
    if (trade.value === null && sides.length > 0) {
      summed.unvalued += 1;
      const isPriceable = trade.pool.anchors.length > 0;
      if (isPriceable && unvaluedBlocks.at(-1) !== trade.block) unvaluedBlocks.push(trade.block);
    }
    const { value } = trade;
    if (value === null) continue;
    for (const side of sides)
      addTrade(sumOf(summed.sums, side.token), { ...side, value, isInWindow: trade.time >= windowFrom });
  }
  summed.unvaluedBlocks = unvaluedBlocks.slice(-UNVALUED_BLOCKS_MAX);
  summed.last = last ?? summed.last;
}

export function profitsOf(summed: WalletSums, indexed: Indexed): WalletProfits {
  const { unvalued, unvaluedBlocks } = summed;
  const sums = new Map(summed.sums.entries().filter(([, { buys, sells }]) => buys + sells > 0));
  const complete = indexed.complete && summed.isWhole && unvalued === 0;
  return { sums, unvalued, unvaluedBlocks, known: indexed, indexed: { ...indexed, complete } };
}

/** Sides that count, with amounts of the party. */
export function sidesOf({ pool, isSold0 }: Trade, { amounts: [amount0, amount1] }: Party) {
  return [
    ...(pool.isCounted0 ? [{ token: pool.token0, isPurchase: !isSold0, amount: amount0 }] : []),
    ...(pool.isCounted1 ? [{ token: pool.token1, isPurchase: isSold0, amount: amount1 }] : []),
  ];
}

/** Unix seconds. Ends at the newest indexed block: profits of a stopped chain don't change. */
export function windowStart(newestTime: number | null, days: number | null): number {
  return days === null || newestTime === null ? 0 : newestTime - days * SECONDS_OF_DAY;
}

const SECONDS_OF_DAY = 86_400;

export function sumOf<Key>(sums: Map<Key, ProfitSum>, key: Key): ProfitSum {
  const sum = sums.get(key) ?? emptyProfitSum();
  sums.set(key, sum);
  return sum;
}
