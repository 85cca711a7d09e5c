/** Chains with stored rows, whether or not a process indexes them. */
import { type Database, LEASE_IS_HELD, sql } from '@chainstead/db';
import { INDEXED_AT, IS_REPORTED, SILENT_AFTER_MS } from '../status/head-reports.ts';

/** A chain by which rows can be selected in every table. */
export interface StoredChain {
  /** `base`, `aptos`. */
  readonly name: string;
  /** As in `head_reports`: the EVM chain id in decimal, or `aptos`. */
  readonly label: string;
  /** Its rows have this value in the column `chain_id`, or `network` for Aptos. */
  readonly key: { readonly column: 'chain_id' | 'network'; readonly value: number | string };
  /** Lease of its ingest process. */
  readonly lease: string;
}

/** @param name the configured or stored name; null: its id */
export function storedEvmChain(id: number, name: string | null): StoredChain {
  const label = String(id);
  return { name: name ?? label, label, key: { column: 'chain_id', value: id }, lease: `ingest:${id}` };
}

/** A chain that a database has rows of, and its state. */
export interface ChainRecord extends Pick<StoredChain, 'name' | 'label'> {
  readonly id: number;
  /** Blocks that any dataset covers, with their first and last one; null: none. */
  readonly blocks: { readonly from: number; readonly to: number } | null;
  /** Whether an ingest process works on it now. */
  readonly isIndexed: boolean;
  /** When a process last worked on it; null: only commands did. */
  readonly indexedAt: Date | null;
}

/** Lists the EVM chains, by id. */
export async function listEvmChains(database: Pick<Database, 'query'>): Promise<readonly ChainRecord[]> {
  const rows = await database.query<ChainRow>(
    sql`SELECT chain_id AS id, chain_key AS key, first AS "from", last AS "to", ${IS_REPORTED} AS "isIndexed", ${INDEXED_AT} AS "indexedAt"
       FROM sync_chains FULL JOIN (
         SELECT chain_id, min(first_block) AS first, max(last_block) AS last FROM sync_ranges GROUP BY chain_id
       ) AS covered USING (chain_id) ORDER BY chain_id`,
  );
  return rows.map(({ id, key, from, to, isIndexed, indexedAt }) => ({
    ...{ id, name: key ?? String(id), label: String(id), isIndexed, indexedAt },
    blocks: from === null || to === null ? null : { from, to },
  }));
}

interface ChainRow {
  readonly id: number;
  readonly key: string | null;
  readonly from: number | null;
  readonly to: number | null;
  readonly isIndexed: boolean;
  readonly indexedAt: Date | null;
}

/** Returns what works on the chain now, for a message; null: nothing does. */
export async function whoIndexes(
  database: Pick<Database, 'query'>,
  { label, lease, key }: StoredChain,
): Promise<string | null> {
  const [row] = await database.query<{ by: string }>(
    sql`SELECT holder AS by FROM leases AS lease WHERE name = ${lease} AND ${LEASE_IS_HELD}
     UNION ALL
     SELECT 'an ingest process' FROM head_reports
      WHERE chain = ${label} AND reported_at >= now() - ${SILENT_AFTER_MS} * interval '1 millisecond'
     UNION ALL
     SELECT lease.holder FROM sync_claims AS claim JOIN leases AS lease ON lease.name = 'claims:' || claim.owner
      WHERE ${key.column} = 'chain_id' AND claim.chain_id::text = ${label} AND ${LEASE_IS_HELD}
      LIMIT 1`,
  );
  return row?.by ?? null;
}
