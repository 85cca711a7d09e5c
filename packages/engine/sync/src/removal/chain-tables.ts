/** The Postgres catalog lists the tables with rows of a chain: a new one needs no entry here. */
import { type Database, LEASE_IS_HELD, rawSql, readLayout, type Sql, sql, where } from '@chainstead/db';
import { readTableSizes } from '@chainstead/db/server';
import {
  isNamedAsPartition,
  type Partition,
  readPartitions,
  readPartitionsOf,
} from '../partitions/read-partitions.ts';
import { INDEXED_AT, IS_REPORTED, IS_SILENT } from '../status/head-reports.ts';

export interface ChainTable {
  readonly name: string;
  readonly column: 'chain_id' | 'network' | 'chain';
  /** In rows of the chain, as text. */
  readonly values: readonly string[];
  /** Null: not partitioned. */
  readonly partitions: readonly Partition[] | null;
  readonly isSpread: boolean;
  /** Rows and indexes of all chains. */
  readonly bytes: number;
  /** 8 kB pages on this server. */
  readonly pages: number;
}

export interface MeasuredTable {
  readonly table: string;
  readonly rows: number;
  readonly bytes: number;
  /** False: estimated from a sample. */
  readonly isExact: boolean;
}

/** Imported or decided by operators, or counts of a client's requests. */
const KEPT = [
  'address_labels',
  'spam_list_entries',
  'token_list_entries',
  'collection_list_entries',
  'contract_abi_entries',
  'contract_reviews',
  'contract_definitions',
  'gateway_usage',
];

export async function readChainTables(
  database: Pick<Database, 'query'>,
  { key, label, name }: StoredChain,
): Promise<readonly ChainTable[]> {
  const [relations, { tables: sizes }, layout] = await Promise.all([
    database.query<FoundTable>(
      sql`SELECT found.oid::regclass::text AS name, relname AS relation, attname AS column, relkind = 'p' AS "isPartitioned",
              (SELECT pg_total_relation_size(found.oid) + coalesce(sum(pg_total_relation_size(inhrelid)), 0)
                 FROM pg_inherits WHERE inhparent = found.oid)::float8 AS bytes,
              (pg_relation_size(found.oid) / current_setting('block_size')::int)::float8 AS pages
         FROM pg_class AS found JOIN pg_attribute ON attrelid = found.oid AND NOT attisdropped
        WHERE relkind IN ('r', 'p') AND NOT relispartition AND attname IN (${key.column}, 'chain') AND relname <> ALL (${KEPT}::text[])
          AND relnamespace IN (current_schema()::regnamespace, to_regnamespace('contracts'))
          -- Ids of Aptos networks and of EVM chains are the same numbers.
          AND NOT (attname = 'chain_id' AND EXISTS (SELECT FROM pg_attribute AS other
            WHERE other.attrelid = found.oid AND other.attname = 'network' AND NOT other.attisdropped))
          -- A table that was a partition is dropped as a whole.
          AND NOT (relkind = 'r' AND found.relname ~ '[0-9]$' AND EXISTS (SELECT FROM pg_class AS parent WHERE parent.relkind = 'p'
            AND parent.relnamespace = found.relnamespace AND ${isNamedAsPartition('found', 'parent')}))
        ORDER BY relname`,
    ),
    readTableSizes(database),
    readLayout(database),
  ]);
  const partitioned = relations.filter(({ isPartitioned }) => isPartitioned);
  const partitionsOf = await readPartitionsOf(database, partitioned);
  const tables: ChainTable[] = [];
  for (const { name: table, relation, column, isPartitioned, bytes, pages } of relations) {
    const size = sizes.find((measured) => measured.table === relation);
    const partitions = isPartitioned ? (partitionsOf.get(table) ?? []) : null;
    tables.push({
      ...{ name: table, column, pages },
      values: column === 'chain' ? [name, label] : [String(key.value)],
      partitions: partitions?.filter(({ chainId }) => chainId === key.value) ?? null,
      isSpread: layout?.tables.has(relation) === true,
      bytes: size === undefined ? bytes : size.heapBytes + size.indexBytes,
    });
  }
  return tables;
}

type FoundTable = Pick<ChainTable, 'name' | 'column' | 'bytes' | 'pages'> & {
  relation: string;
  isPartitioned: boolean;
};

/** Larger tables are estimated from a sample of this size. */
const SAMPLE_BYTES = 64 * 1024 * 1024;

export async function measureChain(
  database: Pick<Database, 'query'>,
  tables: readonly ChainTable[],
): Promise<readonly MeasuredTable[]> {
  const measured: MeasuredTable[] = [];
  for (const table of tables) measured.push(await measureTable(database, table));
  return measured.filter(({ rows }) => rows > 0).toSorted((a, b) => b.bytes - a.bytes || b.rows - a.rows);
}

async function measureTable(database: Pick<Database, 'query'>, table: ChainTable): Promise<MeasuredTable> {
  const { name, partitions, bytes } = table;
  if (partitions === null) {
    const percent = bytes <= SAMPLE_BYTES ? 100 : Math.max(PERCENT_MIN, (100 * SAMPLE_BYTES) / bytes);
    const sample = rawSql(percent === 100 ? '' : `TABLESAMPLE SYSTEM (${percent})`);
    const { all, own } = await countRows(database, table, sample);
    const rows = Math.round((own * 100) / percent);
    return {
      table: name,
      rows,
      bytes: all === 0 ? 0 : Math.round((bytes * own) / all),
      isExact: percent === 100,
    };
  }
  const ownBytes = sumOf(partitions);
  if (ownBytes === 0) return { table: name, rows: 0, bytes: 0, isExact: true };
  const share = ownBytes / sumOf(await readPartitions(database, { name }));
  const isExact = ownBytes <= SAMPLE_BYTES;
  const { own } = isExact
    ? await countRows(database, table, where([conditionOf(table)]))
    : { own: partitions.reduce((sum, { rows }) => sum + rows, 0) };
  return { table: name, rows: own, bytes: Math.round(bytes * share), isExact };
}

const PERCENT_MIN = 0.001;

/** @param part a sample or a condition; empty: all rows */
async function countRows(database: Pick<Database, 'query'>, table: ChainTable, part: Sql) {
  const [counted] = await database.query<{ all: number; own: number }>(
    sql`SELECT count(*) AS all, count(*) FILTER (WHERE ${conditionOf(table)}) AS own FROM ${rawSql(table.name)} ${part}`,
  );
  return counted ?? { all: 0, own: 0 };
}

export function conditionOf({ column, values }: Pick<ChainTable, 'column' | 'values'>): Sql {
  return sql`${rawSql(column)} = ANY (${values}::${rawSql(column === 'chain_id' ? 'bigint' : 'text')}[])`;
}

function sumOf(partitions: readonly Partition[]): number {
  return partitions.reduce((sum, { bytes }) => sum + bytes, 0);
}

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
