import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import { type ReadDatabase, sql } from '@chainstead/db';
import { shownToken, undecidedPoolsOf } from '@chainstead/markets/requests';
import type { Indexed } from '@chainstead/pages';
import { addTrade, compare, type ProfitSum, realizedProfit } from './profit-sum.ts';
import { firstBlockOfNewest, readTrades, readTradesSpan } from './trades/read-trades.ts';
import { sidesOf, sumOf, windowStart } from './wallet-profits.ts';

export interface TopGainers {
  readonly wallets: readonly { readonly wallet: Address; readonly sum: ProfitSum }[];
  /** `complete` is also false with more trades than the limit, or one without a known value. */
  readonly indexed: Indexed;
}

interface GainersLimits {
  readonly tradesMax: number;
  /** @default 100 */
  readonly walletsMax?: number;
  readonly signal?: AbortSignal;
}

export async function readTopGainers(
  database: ReadDatabase,
  chain: Chain,
  { token: given, days }: { readonly token: Address; readonly days: number | null },
  { tradesMax, walletsMax = WALLETS_MAX, signal }: GainersLimits,
): Promise<TopGainers> {
  const token = shownToken(given, chain);
  const { indexed, newestTime } = await readTradesSpan(database, chain, null);
  const lastBlock = indexed.toBlock ?? -1;
  const firstBlock = await firstBlockOfNewest(
    database,
    chain,
    { kind: 'token', token },
    { lastBlock, tradesMax },
  );
  const start = windowStart(newestTime, days);
  const sums = new Map<Address, ProfitSum>();
  let isWhole = firstBlock === 0 && !(await hasUndecided(database, chain, token));
  const reading = { subject: { kind: 'token', token }, firstBlock, lastBlock } as const;
  for await (const { trades } of readTrades(database, chain, reading)) {
    signal?.throwIfAborted();
    for (const trade of trades)
      for (const party of trade.parties)
        for (const side of sidesOf(trade, party)) {
          if (side.token !== token) continue;
          if (trade.value === null) isWhole = false;
          else
            addTrade(sumOf(sums, party.wallet), { ...side, value: trade.value, isInWindow: trade.time >= start });
        }
  }
  const wallets = [...sums].map(([wallet, sum]) => ({ wallet, sum, profit: realizedProfit(sum) }));
  return {
    wallets: wallets
      .filter(({ profit }) => profit > 0n)
      .sort((a, b) => compare(b.profit, a.profit) || compare(a.wallet, b.wallet))
      .slice(0, walletsMax)
      .map(({ wallet, sum }) => ({ wallet, sum })),
    indexed: { ...indexed, complete: indexed.complete && isWhole },
  };
}

const WALLETS_MAX = 100;

async function hasUndecided(database: ReadDatabase, chain: Chain, token: Address): Promise<boolean> {
  const [row] = await database.select<{ readonly found: boolean }>(
    sql`WITH undecided AS MATERIALIZED (${undecidedPoolsOf(token, chain, sql`${chain.id}::bigint`)})
     SELECT EXISTS (SELECT FROM undecided) AS found`,
  );
  return row?.found ?? true;
}
