import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import type { ReadDatabase } from '@chainstead/db';
import { tokenKey } from '../trades/transfers-by-token.ts';
import { getSalePrices } from './get-sale-prices.ts';
import type { ShownSale } from './sale-prices-route.ts';

export type LastSale = ShownSale | null;

const DAYS = 365;
/** Statements at once: a page of collections must not take all connections. */
const CONCURRENCY = 4;

/** Paid in ether within a year; of a collection if the id is null. */
export async function getLastSale(
  database: ReadDatabase,
  chain: Chain,
  { token, tokenId }: { readonly token: Address; readonly tokenId: string | null },
): Promise<LastSale> {
  const query = { token, tokenId, days: DAYS, now: new Date(), includeWrapped: false };
  const { sales, etherPrice: now } = await getSalePrices(database, chain, query);
  return sales && { ...sales.last, now, collection: token };
}

export async function getLastSales(
  database: ReadDatabase,
  chain: Chain,
  addresses: readonly Address[],
): Promise<ReadonlyMap<Address, LastSale>> {
  return salesByKey(database, chain, new Map(addresses.map((token) => [token, { token, tokenId: null }])));
}

export async function getLastSalesOfTokens(
  database: ReadDatabase,
  chain: Chain,
  tokens: readonly Token[],
): Promise<(token: Token) => LastSale> {
  const sales = await salesByKey(database, chain, new Map(tokens.map((token) => [tokenKey(token), token])));
  return (token) => sales.get(tokenKey(token)) ?? null;
}

async function salesByKey<Key>(
  database: ReadDatabase,
  chain: Chain,
  subjects: ReadonlyMap<Key, Parameters<typeof getLastSale>[2]>,
): Promise<ReadonlyMap<Key, LastSale>> {
  const waiting = subjects.entries();
  const sales = new Map<Key, LastSale>();
  await Promise.all(
    Array.from({ length: CONCURRENCY }, async () => {
      for (const [key, subject] of waiting) sales.set(key, await getLastSale(database, chain, subject));
    }),
  );
  return sales;
}

type Token = Parameters<typeof tokenKey>[0];
