/** Tables with rows of a chain, by the Postgres catalog: a new table needs no entry here. */
import { type Database, rawSql, readLayout, readTableSizes, type Sql, sql, where } from '@chainstead/db';
import { type Partition, readPartitions } from '../partitions/read-partitions.ts';
import type { StoredChain } from './stored-chain.ts';

/** A table whose rows belong to chains. Partitions count to their table. */
export interface ChainTable {
  /** For SQL, with its schema if needed. */
  readonly name: string;
  readonly column: 'chain_id' | 'network' | 'chain';
  /** Values of the column in rows of the chain, as text. */
  readonly values: readonly string[];
  /** Partitions of the chain; null: the table has no partitions. */
  readonly partitions: readonly Partition[] | null;
  /** Whether its rows are on other servers. */
  readonly isSpread: boolean;
  /** Rows and indexes of all chains. */
  readonly bytes: number;
  /** Number of 8 kB pages of its rows on this server. */
  readonly pages: number;
}

/** Rows of a chain in a table, and their share of its bytes with indexes. */
export interface MeasuredTable {
  readonly table: string;
  readonly rows: number;
  readonly bytes: number;
  /** False: estimated from a sample. */
  readonly isExact: boolean;
}

/**
 * Rows that stay when a chain is removed: an operator imported or decided them, or they count the requests of a client. The definitions of
 * contracts are removed with their tables.
 */
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

/** Returns the tables, those of contracts too. */
export async function readChainTables(
  database: Pick<Database, 'query'>,
  { key, label, name }: StoredChain,
): Promise<readonly ChainTable[]> {
  const [found, { tables: sizes }, layout] = await Promise.all([
    database.query<FoundTable>(
      sql`SELECT found.oid::regclass::text AS name, relname AS relation, attname AS column, relkind = 'p' AS "isPartitioned",
              pg_total_relation_size(found.oid)::float8 AS bytes,
              (pg_relation_size(found.oid) / current_setting('block_size')::int)::float8 AS pages
         FROM pg_class AS found JOIN pg_attribute ON attrelid = found.oid AND NOT attisdropped
        WHERE relkind IN ('r', 'p') AND NOT relispartition AND attname IN (${key.column}, 'chain') AND relname <> ALL (${KEPT}::text[])
          AND relnamespace IN (current_schema()::regnamespace, to_regnamespace('contracts'))
          -- Ids of Aptos networks and of EVM chains are the same numbers.
          AND NOT (attname = 'chain_id' AND EXISTS (SELECT FROM pg_attribute AS other
            WHERE other.attrelid = found.oid AND other.attname = 'network' AND NOT other.attisdropped))
          -- A table that was a partition is dropped as a whole.
          AND NOT EXISTS (SELECT FROM pg_class AS parent WHERE parent.relkind = 'p'
            AND parent.relnamespace = found.relnamespace AND found.relname ~ ('^' || parent.relname || '_[0-9]+_[0-9]+$'))
        ORDER BY relname`,
    ),
    readTableSizes(database),
    readLayout(database),
  ]);
  const tables: ChainTable[] = [];
  for (const { name: table, relation, column, isPartitioned, bytes, pages } of found) {
    const size = sizes.find((one) => one.table === relation);
    tables.push({
      ...{ name: table, column, pages },
      values: column === 'chain' ? [name, label] : [String(key.value)],
      partitions: isPartitioned ? (await readPartitions(database, { name: table })).filter(isOfChain(key.value)) : null,
      isSpread: layout?.tables.has(relation) === true,
      bytes: size === undefined ? bytes : size.heapBytes + size.indexBytes,
    });
  }
  return tables;
}

interface FoundTable extends Pick<ChainTable, 'name' | 'column' | 'bytes' | 'pages'> {
  readonly relation: string;
  readonly isPartitioned: boolean;
}

function isOfChain(value: number | string): (partition: Partition) => boolean {
  return ({ chainId }) => chainId === value;
}

/** Rows of larger tables are estimated from a sample of this size. */
const SAMPLE_BYTES = 64 * 1024 * 1024;

/** Measures the chain's rows, the largest tables first. Reads at most 64 MB of each table. */
export async function measureChain(
  database: Pick<Database, 'query'>,
  tables: readonly ChainTable[],
): Promise<readonly MeasuredTable[]> {
  const measured: MeasuredTable[] = [];
  for (const table of tables) {
    const one = await measureTable(database, table);
    if (one.rows > 0) measured.push(one);
  }
  return measured.toSorted((one, other) => other.bytes - one.bytes || other.rows - one.rows);
}

async function measureTable(database: Pick<Database, 'query'>, table: ChainTable): Promise<MeasuredTable> {
  const { name, partitions, bytes } = table;
  if (partitions === null) {
    const percent = bytes <= SAMPLE_BYTES ? 100 : Math.max(PERCENT_MIN, (100 * SAMPLE_BYTES) / bytes);
    const { all, own } = await countRows(
      database,
      table,
      rawSql(percent === 100 ? '' : `TABLESAMPLE SYSTEM (${percent})`),
    );
    const rows = Math.round((own * 100) / percent);
    return { table: name, rows, bytes: all === 0 ? 0 : Math.round((bytes * own) / all), isExact: percent === 100 };
  }
  const ownBytes = sumOf(partitions);
  if (ownBytes === 0) return { table: name, rows: 0, bytes: 0, isExact: true };
  const share = ownBytes / sumOf(await readPartitions(database, { name }));
  const isExact = ownBytes <= SAMPLE_BYTES;
  const { own } = isExact
    ? await countRows(database, table, where([conditionOf(table)]))
    : { own: partitions.reduce((sum, one) => sum + one.rows, 0) };
  return { table: name, rows: own, bytes: Math.round(bytes * share), isExact };
}

/** Percent: Postgres reads a page at least. */
const PERCENT_MIN = 0.001;

/** @param part which rows of the table: a sample or a condition; empty: all */
async function countRows(
  database: Pick<Database, 'query'>,
  table: ChainTable,
  part: Sql,
): Promise<{ readonly all: number; readonly own: number }> {
  const [counted] = await database.query<{ all: number; own: number }>(
    sql`SELECT count(*) AS all, count(*) FILTER (WHERE ${conditionOf(table)}) AS own FROM ${rawSql(table.name)} ${part}`,
  );
  return counted ?? { all: 0, own: 0 };
}

/** Returns the condition that a row is of the chain. */
export function conditionOf({ column, values }: Pick<ChainTable, 'column' | 'values'>): Sql {
  return sql`${rawSql(column)} = ANY (${values}::${rawSql(column === 'chain_id' ? 'bigint' : 'text')}[])`;
}

function sumOf(partitions: readonly Partition[]): number {
  return partitions.reduce((sum, { bytes }) => sum + bytes, 0);
}
