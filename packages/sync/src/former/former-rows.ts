/**
 * Rows of an earlier layout of a table. They lie in a table of their own and move piece by piece into the present one, while the
 * program reads both (each row is in exactly one) and writes only the present one. Whoever writes rows takes along first what the former
 * table has of the same place, so that nothing is there twice and nothing is missed by a comparison or a deletion.
 */
import type { Chain } from '@chainstead/chains';
import type { BlockRange } from '@chainstead/core';
import type { Database, Transaction } from '@chainstead/db';
import type { Dataset } from '../dataset.ts';
import type { FormerTable, RowTable } from '../row-table.ts';

/** A table with its former one. */
export interface ReplacedTable {
  readonly table: RowTable;
  readonly former: FormerTable;
}

/** The tables of datasets whose former tables are there. Emptied ones count: nothing tells them apart without a scan. */
export async function replacedTables(
  source: Pick<Database, 'query'>,
  datasets: readonly Pick<Dataset, 'table'>[],
): Promise<readonly ReplacedTable[]> {
  const replaced = datasets.flatMap(({ table }) => (table.former === null ? [] : [{ table, former: table.former }]));
  if (replaced.length === 0) return [];
  const found = await source.query<{ name: string }>(
    `SELECT relname AS name FROM pg_class
      WHERE relname = ANY($1::text[]) AND relnamespace = current_schema()::regnamespace AND relkind = 'r'`,
    [replaced.map(({ former }) => former.table)],
  );
  const names = new Set(found.map(({ name }) => name));
  return replaced.filter(({ former }) => names.has(former.table));
}

/** Moves the rows of a range of blocks to where they are written and read from now on, in the caller's transaction. */
export async function takeAlongRange(
  transaction: Transaction,
  chain: Chain,
  datasets: readonly Dataset[],
  range: BlockRange,
): Promise<void> {
  for (const replaced of await replacedTables(transaction, datasets))
    await transaction.query(movingStatement(replaced, 'chain_id = $1 AND block_number BETWEEN $2 AND $3'), [
      chain.id,
      range.from,
      range.to,
    ]);
}

/** Moves the rows that have the key of a staged one. */
export async function takeAlongStaged(transaction: Transaction, dataset: Dataset, staging: string): Promise<void> {
  for (const replaced of await replacedTables(transaction, [dataset])) {
    const key = replaced.former.key.map((column) => `former.${column} = staged.${column}`).join(' AND ');
    await transaction.query(movingStatement(replaced, `EXISTS (SELECT FROM ${staging} AS staged WHERE ${key})`));
  }
}

/** Moves the rows of the former table, `former`, that meet the condition. */
export function movingStatement(replaced: ReplacedTable, condition: string): string {
  const { table, former } = replaced;
  return `WITH former_rows AS (DELETE FROM ${former.table} AS former WHERE ${condition} RETURNING former.*)
    INSERT INTO ${table.name} (${table.columns.join(', ')})
    SELECT ${presentColumns(replaced)} FROM former_rows ORDER BY ${table.key.join(', ')}`;
}

/**
 * A query for the rows that meet the condition, in whichever table they lie. Beside the view of both, each table is asked by columns of its
 * own types, so that its indexes serve.
 */
export async function allRowsWhere(transaction: Transaction, dataset: Dataset, condition: string): Promise<string> {
  const { table } = dataset;
  const present = `SELECT ${table.columns.join(', ')} FROM ${table.name} WHERE ${condition}`;
  const [replaced] = await replacedTables(transaction, [dataset]);
  if (replaced === undefined) return present;
  return `${present} UNION ALL SELECT ${presentColumns(replaced)} FROM ${replaced.former.table} WHERE ${condition}`;
}

/** The columns of the present table, from those of the former one. */
function presentColumns({ table, former }: ReplacedTable): string {
  return table.columns.map((column) => `${former.columns[column] ?? column} AS ${column}`).join(', ');
}
