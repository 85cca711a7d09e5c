import type { Chain } from '@chainstead/chains';
import { type Database, rawSql, sql, type Transaction } from '@chainstead/db';
import type { Dataset, Projection } from '@chainstead/sync/datasets';
import { runProjection } from '@chainstead/sync/ingest';
import { createPartitions } from '@chainstead/testkit';

/** These projections have no subjects. */
const NO_SUBJECTS = rawSql('');

/** Adds rows of a dataset and derives from them, as the sync engine does. @param spread as if tables were distributed */
export async function storeRows<Row>(
  database: Database,
  chain: Chain,
  { table, projections = [] }: Dataset<Row>,
  rows: readonly Row[],
  spread = false,
): Promise<void> {
  await database.transaction(async (transaction) => {
    if (table.isPartitioned) await createPartitions(transaction, table.name, chain.id);
    const added = await holdRows(transaction, table.name);
    await transaction.copy(
      added,
      table.columns,
      rows.map((row) => table.copyLine(row)),
    );
    await transaction.query(sql`INSERT INTO ${rawSql(table.name)} SELECT * FROM ${rawSql(added)}`);
    for (const projection of projections)
      await runProjection(transaction, spread, (access) =>
        projection.added({ rows: rawSql(added), subjects: NO_SUBJECTS, access }),
      );
  });
}

/** Removes the rows of blocks above `ancestor` and derives from that, as a reorg does. */
export async function rollBackRows<Row>(
  database: Database,
  chain: Chain,
  { table, projections = [] }: Dataset<Row>,
  ancestor: number,
): Promise<void> {
  await database.transaction(async (transaction) => {
    const removed = await holdRows(transaction, table.name);
    await transaction.query(
      sql`WITH gone AS (DELETE FROM ${rawSql(table.name)} WHERE chain_id = ${chain.id} AND block_number > ${ancestor} RETURNING *) INSERT INTO ${rawSql(removed)} SELECT * FROM gone`,
    );
    for (const projection of projections)
      await derive(transaction, projection, removed, table.name, chain, ancestor);
  });
}

async function derive(
  transaction: Transaction,
  projection: Projection,
  removed: string,
  remaining: string,
  { id }: Chain,
  ancestor: number,
): Promise<void> {
  const change = { rows: rawSql(removed), remaining: rawSql(remaining), subjects: NO_SUBJECTS };
  await runProjection(transaction, false, (access) => projection.removed({ ...change, access }));
  await runProjection(transaction, false, () => projection.rolledBack?.(id, ancestor) ?? []);
}

async function holdRows(transaction: Transaction, table: string): Promise<string> {
  const name = `changed_${table}`;
  await transaction.query(sql`CREATE TEMP TABLE ${rawSql(name)} (LIKE ${rawSql(table)}) ON COMMIT DROP`);
  return name;
}
