import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import type { Indexed } from '@chainstead/data-api';
import type { ReadDatabase } from '@chainstead/db';
import { addTrade, emptyProfitSum, type ProfitSum } from './profit-sum.ts';
import { firstBlockOfNewest, readTrades, readTradesSpan, type Trade } from './trades/read-trades.ts';
import { shownToken } from './trades/traded-pool.ts';

export interface WalletProfitsQuery {
  readonly wallet: Address;
  /** Null: all tokens. */
  readonly tokens: readonly Address[] | null;
  /** Length of the window; null: all trades. */
  readonly days: number | null;
}

export interface WalletProfits {
  /** Tokens with a trade in the window. */
  readonly sums: ReadonlyMap<Address, ProfitSum>;
  /** `complete` is also false if a trade has no known value, or its pool may have a proof later. */
  readonly indexed: Indexed;
  /** Known blocks of the wallet's swaps, whatever their values. */
  readonly known: Pick<Indexed, 'fromBlock' | 'toBlock'>;
  /** Number of trades of the tokens, in all time, that are left out because their values are unknown. */
  readonly unvalued: number;
  /** Blocks of the newest of them that an anchor could value, oldest first. */
  readonly unvaluedBlocks: readonly number[];
}

/** More than one request can have read. */
const UNVALUED_BLOCKS_MAX = 1_000;

interface WalletSwapsLimits {
  /** Number of newest swaps that count; with more, `indexed.complete` is false. */
  readonly swapsMax: number;
  /** Swaps per statement. */
  readonly part?: number;
  readonly signal?: AbortSignal;
}

/** Returns the profits of a wallet by token, from its newest swaps as sender or beneficiary. Holds one sum per token. */
export async function readWalletProfits(
  database: ReadDatabase,
  chain: Chain,
  { wallet, tokens, days }: WalletProfitsQuery,
  { swapsMax, part, signal }: WalletSwapsLimits,
): Promise<WalletProfits> {
  const { indexed, newestTime } = await readTradesSpan(database, chain, wallet);
  const wanted = tokens === null ? null : new Set(tokens.map((token) => shownToken(token, chain)));
  const isWanted = (token: Address) => wanted?.has(token) ?? true;
  const start = windowStart(newestTime, days);
  const sums = new Map<Address, ProfitSum>();
  const lastBlock = indexed.toBlock ?? -1;
  const subject = { kind: 'wallet', wallet } as const;
  const firstBlock = await firstBlockOfNewest(database, chain, subject, { lastBlock, tradesMax: swapsMax });
  const reading = { subject, firstBlock, lastBlock, ...(part !== undefined && { part }) };
  let isWhole = firstBlock === 0;
  let unvalued = 0;
  let unvaluedBlocks: number[] = [];
  for await (const { trades, undecided } of readTrades(database, chain, reading)) {
    signal?.throwIfAborted();
    if (undecided.some((token) => token === null || isWanted(shownToken(token, chain)))) isWhole = false;
    for (const trade of trades) {
      const sides = sidesOf(trade).filter(({ token }) => isWanted(token));
      if (trade.value === null && sides.length > 0) {
        unvalued += 1;
        const isPriceable = trade.pool.anchors.length > 0;
        if (isPriceable && unvaluedBlocks.at(-1) !== trade.block) unvaluedBlocks.push(trade.block);
      }
      const { value } = trade;
      if (value === null) continue;
      for (const side of sides) addTrade(sumOf(sums, side.token), { ...side, value, isInWindow: trade.time >= start });
    }
    unvaluedBlocks = unvaluedBlocks.slice(-UNVALUED_BLOCKS_MAX);
  }
  for (const [token, { buys, sells }] of sums) if (buys + sells === 0) sums.delete(token);
  const complete = indexed.complete && isWhole && unvalued === 0;
  return { sums, unvalued, unvaluedBlocks, known: indexed, indexed: { ...indexed, complete } };
}

/** The purchase or sale of each token that counts. */
export function sidesOf({
  pool,
  isSold0,
  amount0,
  amount1,
}: Trade): readonly { readonly token: Address; readonly isPurchase: boolean; readonly amount: bigint }[] {
  return [
    ...(pool.isCounted0 ? [{ token: pool.token0, isPurchase: !isSold0, amount: amount0 }] : []),
    ...(pool.isCounted1 ? [{ token: pool.token1, isPurchase: isSold0, amount: amount1 }] : []),
  ];
}

/** Unix seconds. The window ends at the newest indexed block, so that a stopped chain has the same profits every day. */
export function windowStart(newestTime: number | null, days: number | null): number {
  return days === null || newestTime === null ? 0 : newestTime - days * SECONDS_OF_DAY;
}

const SECONDS_OF_DAY = 86_400;

/** The sum of a key, added if it is new. */
export function sumOf<Key>(sums: Map<Key, ProfitSum>, key: Key): ProfitSum {
  const known = sums.get(key);
  if (known !== undefined) return known;
  const sum = emptyProfitSum();
  sums.set(key, sum);
  return sum;
}
