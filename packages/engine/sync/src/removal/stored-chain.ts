import { type Database, LEASE_IS_HELD, sql } from '@chainstead/db';
import { INDEXED_AT, IS_REPORTED, IS_SILENT } from '../status/head-reports.ts';

export interface StoredChain {
  readonly name: string;
  /** As in `head_reports`: decimal chain id, or `aptos`. */
  readonly label: string;
  /** `network` is for Aptos. */
  readonly key: { readonly column: 'chain_id' | 'network'; readonly value: number | string };
  readonly lease: string;
}

/** Null: the id is the name. */
export function storedEvmChain(id: number, name: string | null): StoredChain {
  const label = String(id);
  return { name: name ?? label, label, key: { column: 'chain_id', value: id }, lease: `ingest:${id}` };
}

export interface ChainRecord extends Pick<StoredChain, 'name' | 'label'> {
  readonly id: number;
  readonly blocks: { readonly from: number; readonly to: number } | null;
  readonly isIndexed: boolean;
  /** Null: only commands worked on it. */
  readonly indexedAt: Date | null;
}

export async function listEvmChains(database: Pick<Database, 'query'>): Promise<readonly ChainRecord[]> {
  return database.query<ChainRecord>(
    sql`SELECT chain_id AS id, coalesce(chain_key, chain_id::text) AS name, chain_id::text AS label, ${IS_REPORTED} AS "isIndexed",
         ${INDEXED_AT} AS "indexedAt", CASE WHEN first IS NOT NULL THEN json_build_object('from', first, 'to', last) END AS blocks
       FROM sync_chains FULL JOIN (
         SELECT chain_id, min(first_block) AS first, max(last_block) AS last FROM sync_ranges GROUP BY chain_id
       ) AS covered USING (chain_id) ORDER BY chain_id`,
  );
}

/** For a message; null: nothing works on the chain. */
export async function whoIndexes(
  database: Pick<Database, 'query'>,
  { label, lease, key }: StoredChain,
): Promise<string | null> {
  const [row] = await database.query<{ by: string }>(
    sql`SELECT holder AS by FROM leases AS lease WHERE name = ${lease} AND ${LEASE_IS_HELD}
     UNION ALL
     SELECT 'an ingest process' FROM head_reports AS report WHERE chain = ${label} AND NOT ${IS_SILENT}
     UNION ALL
     SELECT lease.holder FROM sync_claims AS claim JOIN leases AS lease ON lease.name = 'claims:' || claim.owner
      WHERE ${key.column} = 'chain_id' AND claim.chain_id::text = ${label} AND ${LEASE_IS_HELD}
      LIMIT 1`,
  );
  return row?.by ?? null;
}
