import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import { type Sql, sql } from '@chainstead/db';
import { collectionStatement } from './collection-statement.ts';

export type CollectionStats = Readonly<Record<'ids' | 'owners' | 'transfers', string>>;

export function collectionStatsStatement(chain: Chain, contract: Address): Sql {
  return collectionStatement(chain, contract, (of) => ({
    columns: sql`page.ids::text AS ids, page.owners::text AS owners, page.transfers::text AS transfers`,
    rows: sql`SELECT counts.ids, counts.owners, counts.transfers FROM nft_collection_counts AS counts WHERE ${of('counts')}`,
  }));
}
