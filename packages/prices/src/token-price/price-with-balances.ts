import type { Chain } from '@chainstead/chains';
import type { Logger } from '@chainstead/core';
import type { ReadDatabase } from '@chainstead/db';
import { type BalanceRequestSources, requestBalances } from '@chainstead/erc20';
import type { PricePlace } from './price-place.ts';
import { readTokenPrice, type TokenPrice, type TokenPriceQuery } from './token-price.ts';

/** Sources of prices. */
export interface PriceSources {
  readonly reads: ReadDatabase;
  /** The primary: it has new contract reads first. */
  readonly database: ReadDatabase;
  readonly logger: Logger;
  readonly balances: BalanceRequestSources;
  /** End of the request's waits, on the clock of `performance.now()`: all of its prices share them. Milliseconds. */
  readonly waitsUntil: number;
}

/** Returns the price of a token at a place, after reading missing balances of its pools. Reads that take too long serve later requests. */
export async function readPriceWithBalances(
  { reads, database, logger, balances, waitsUntil }: PriceSources,
  chain: Chain,
  query: TokenPriceQuery,
  place: PricePlace,
): Promise<TokenPrice> {
  const found = await readTokenPrice(reads, chain, query, place);
  if (found.of === 'anchor') return found;
  const { unread, old } = found.unknown;
  if (old.length > 0) await requestBalances({ ...balances, waitMs: 0 }, chain, old, logger);
  if (unread.length === 0) return found;
  const waitMs = Math.max(0, waitsUntil - performance.now());
  const isRead = await requestBalances({ ...balances, waitMs }, chain, unread, logger);
  return isRead ? readTokenPrice(database, chain, query, place) : found;
}
