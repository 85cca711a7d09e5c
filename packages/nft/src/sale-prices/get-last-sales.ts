import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import type { ReadDatabase } from '@chainstead/db';
import type { z } from '@hono/zod-openapi';
import { tokenKey } from '../trades/transfers-by-token.ts';
import { getSalePrices } from './get-sale-prices.ts';
import { type salePricesSchema, showSalePrices } from './sale-prices-response.ts';

export type LastSale = z.infer<typeof salePricesSchema>['last_sale'];

/** Maximum age of the last sale: the longest window of the price routes. */
const DAYS = 365;
/** Concurrent statements: a page of collections must not take all connections. */
const CONCURRENCY = 4;

/**
 * Returns the last sale of a token, or of a collection (id null), paid in ether within a year, as the API shows it;
 * null without one.
 */
export async function getLastSale(
  database: ReadDatabase,
  chain: Chain,
  { token, tokenId }: { readonly token: Address; readonly tokenId: string | null },
): Promise<LastSale> {
  const query = { token, tokenId, days: DAYS, now: new Date(), includeWrapped: false };
  return showSalePrices(await getSalePrices(database, chain, query), DAYS, token).last_sale;
}

/** {@link getLastSale} for several collections. */
export async function getLastSales(
  database: ReadDatabase,
  chain: Chain,
  addresses: readonly Address[],
): Promise<ReadonlyMap<Address, LastSale>> {
  const waiting = addresses.values();
  const found = new Map<Address, LastSale>();
  await Promise.all(
    Array.from({ length: CONCURRENCY }, async () => {
      for (const token of waiting) found.set(token, await getLastSale(database, chain, { token, tokenId: null }));
    }),
  );
  return found;
}

/** {@link getLastSale} for several tokens. */
export async function getLastSalesOfTokens(
  database: ReadDatabase,
  chain: Chain,
  tokens: readonly Token[],
): Promise<(token: Token) => LastSale> {
  const waiting = new Map(tokens.map((token) => [tokenKey(token), token])).entries();
  const found = new Map<string, LastSale>();
  await Promise.all(
    Array.from({ length: CONCURRENCY }, async () => {
      for (const [key, token] of waiting) found.set(key, await getLastSale(database, chain, token));
    }),
  );
  return (token) => found.get(tokenKey(token)) ?? null;
}

type Token = Parameters<typeof tokenKey>[0];
