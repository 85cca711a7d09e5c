import type { TablesInUse } from '@chainstead/answers';
import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import type { Database } from '@chainstead/db';
import type { z } from '@hono/zod-openapi';
import { getSalePrices } from './get-sale-prices.ts';
import { type salePricesSchema, showSalePrices } from './sale-prices-response.ts';

export type LastSale = z.infer<typeof salePricesSchema>['last_sale'];

/** How far back the last sale is looked for: as far as prices can be asked for. */
const DAYS = 365;
/** Statements at once: a page of collections must not take all connections. */
const CONCURRENCY = 4;

/**
 * The last sale of a collection paid in ether within a year, as the API shows it; null without one.
 * @param tables that hold trades
 */
export async function getLastSale(
  database: Database,
  chain: Chain,
  token: Address,
  tables: TablesInUse,
): Promise<LastSale> {
  const query = { token, tokenId: null, days: DAYS, now: new Date(), includeWrapped: false };
  return showSalePrices(await getSalePrices(database, chain, query, tables), DAYS, token).last_sale;
}

/** {@link getLastSale} of several collections. */
export async function getLastSales(
  database: Database,
  chain: Chain,
  addresses: readonly Address[],
  tables: TablesInUse,
): Promise<ReadonlyMap<Address, LastSale>> {
  const waiting = addresses.values();
  const found = new Map<Address, LastSale>();
  await Promise.all(
    Array.from({ length: CONCURRENCY }, async () => {
      for (const token of waiting) found.set(token, await getLastSale(database, chain, token, tables));
    }),
  );
  return found;
}
