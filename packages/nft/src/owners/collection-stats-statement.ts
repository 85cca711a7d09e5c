import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import { type Sql, sql } from '@chainstead/db';
import { collectionStatement } from './collection-statement.ts';

/** {@link collectionStatsStatement}'s columns. */
export interface CollectionStatsRow {
  readonly ids: string;
  readonly owners: string;
  readonly transfers: string;
}

/** Returns the statement for a collection's stored counts. It yields no row if nothing of it ever moved. */
export function collectionStatsStatement(chain: Chain, contract: Address): Sql {
  return collectionStatement(chain, contract, (of) => ({
    columns: sql`page.ids::text AS ids, page.owners::text AS owners, page.transfers::text AS transfers`,
    rows: sql`SELECT counts.ids, counts.owners, counts.transfers FROM nft_collection_counts AS counts WHERE ${of('counts')}`,
  }));
}
