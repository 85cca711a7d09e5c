/** What a database stores of a chain, as text that can be compared: facts, no clocks and no job ids. */
import { type Database, joinSql, rawSql, type Sql, sql } from '@chainstead/db';
import { getTableName } from 'drizzle-orm';
import type { PgTable } from 'drizzle-orm/pg-core';
import { TestkitError } from '../testkit-error.ts';

/** A dataset of the sync engine, as far as its tables matter here. */
export interface StoredDataset {
  readonly name: string;
  readonly table: { readonly name: string; readonly columns: readonly string[] };
  /** Present if its rows mention token contracts. */
  readonly contracts?: unknown;
  readonly projections?: readonly { readonly tables: readonly PgTable[] }[];
}

/** Sorted rows by table. `blocks` are those that have rows, `tokens` those that rows mention, `covered` the indexed ranges. */
export type TableRows = Readonly<Record<string, readonly string[]>>;

/** Rows without information: whether they exist depends on the order in which blocks arrived. */
const EMPTY_ROWS: Readonly<Record<string, Sql>> = {
  erc20_token_counts: sql`transfers = 0`,
  nft_wallet_tokens: sql`amount = 0`,
  nft_wallet_collections: sql`ids_held = 0`,
};

/** Columns that hold the time of a write. */
const IS_CLOCK = /_at$/;

/** Reads every table that the datasets fill for a chain. */
export async function readTableRows(
  database: Database,
  chainId: number,
  datasets: readonly StoredDataset[],
): Promise<TableRows> {
  const rowsOf = async (statement: Sql): Promise<string[]> => {
    const rows = await database.query<{ row: string }>(statement);
    return rows.map(({ row }) => row).toSorted();
  };
  const found: Record<string, readonly string[]> = {};
  for (const table of tablesOf(datasets))
    found[table] = await rowsOf(
      sql`SELECT ${await rowText(database, table)} AS row FROM ${rawSql(table)} WHERE chain_id = ${chainId} AND NOT (${EMPTY_ROWS[table] ?? rawSql('false')})`,
    );
  const withRows = datasets.map(
    ({ table }) => sql`SELECT block_number FROM ${rawSql(table.name)} WHERE chain_id = ${chainId}`,
  );
  const mentioned = datasets
    .filter(({ contracts }) => contracts !== undefined)
    .map(
      (dataset) =>
        sql`SELECT ${contractColumn(dataset)} FROM ${rawSql(dataset.table.name)} WHERE chain_id = ${chainId}`,
    );
  return {
    ...found,
    blocks: await rowsOf(
      sql`SELECT concat_ws(' ', block_number, block_hash, block_timestamp) AS row FROM blocks
        WHERE chain_id = ${chainId} AND block_number IN (${joinSql(withRows, ' UNION ')})`,
    ),
    tokens: await rowsOf(
      sql`SELECT concat_ws(' ', address, seen_as) AS row FROM tokens WHERE chain_id = ${chainId} AND address IN (${joinSql(mentioned, ' UNION ')})`,
    ),
    covered: await rowsOf(
      sql`SELECT concat_ws(' ', dataset, range_agg(int8range(first_block, last_block, '[]'))) AS row FROM sync_ranges
        WHERE chain_id = ${chainId} AND dataset = ANY (${datasets.map(({ name }) => name)}::text[]) GROUP BY dataset`,
    ),
  };
}

function tablesOf(datasets: readonly StoredDataset[]): Set<string> {
  return new Set(
    datasets.flatMap(({ table, projections = [] }) => [
      table.name,
      ...projections.flatMap(({ tables }) => tables.map(getTableName)),
    ]),
  );
}

/** Names each value: tables of a cluster may have their columns in another order, and what is null is left out. */
async function rowText(database: Database, table: string): Promise<Sql> {
  const columns = await database.query<{ name: string }>(
    sql`SELECT attname AS name FROM pg_attribute WHERE attrelid = ${table}::regclass AND attnum > 0 AND NOT attisdropped ORDER BY attname`,
  );
  const values = columns.flatMap(({ name }) => (IS_CLOCK.test(name) ? [] : [`'${name}=' || ${name}::text`]));
  return rawSql(`concat_ws(' ', ${values.join(', ')})`);
}

/** The column of a dataset's table that names the contract of a row. */
function contractColumn({ name, table }: StoredDataset): Sql {
  const column = ['token', 'token_address'].find((candidate) => table.columns.includes(candidate));
  if (column === undefined)
    throw new TestkitError(`No column of ${table.name} is known to name a contract`, { name });
  return rawSql(column);
}

export interface TableDifference {
  readonly table: string;
  /** Rows that only one side has, the first few of each. */
  readonly surplus: readonly string[];
  readonly missing: readonly string[];
}

const SHOWN_ROWS = 5;

/** Returns the tables that differ. @throws TestkitError for a row that is there twice */
export function compareTableRows(stored: TableRows, expected: TableRows): TableDifference[] {
  return [...new Set([...Object.keys(stored), ...Object.keys(expected)])].flatMap((table) => {
    const [ours, theirs] = [distinct(table, stored[table]), distinct(table, expected[table])];
    const [surplus, missing] = [ours.difference(theirs), theirs.difference(ours)];
    if (surplus.size + missing.size === 0) return [];
    return [{ table, surplus: [...surplus].slice(0, SHOWN_ROWS), missing: [...missing].slice(0, SHOWN_ROWS) }];
  });
}

function distinct(table: string, rows: readonly string[] = []): Set<string> {
  const found = new Set(rows);
  if (found.size !== rows.length) throw new TestkitError(`${table} has a row twice`, { table });
  return found;
}
