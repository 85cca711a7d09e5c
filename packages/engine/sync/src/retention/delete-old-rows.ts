import { type Database, rawSql, type Sql, sql } from '@chainstead/db';
import { readRetainedFrom } from '../coverage/retained-from.ts';
import { isDroppable } from '../coverage/retention-settings.ts';
import type { Dataset } from '../dataset/dataset.ts';
import type { RowTable } from '../dataset/row-table.ts';
import { uncoverIn } from './drop-partition.ts';
import type { RetentionOptions } from './retention-options.ts';

/** Under the commit lock. A block is deleted as a whole, so there may be more. */
const ROWS_AT_ONCE = 10_000;

/** Rows below the retention window by more than the reorg depth, and their coverage. */
export async function deleteOldRows(
  options: Omit<RetentionOptions, 'clock' | 'lockWaitMs'>,
  signal: AbortSignal,
  rowsAtOnce: number = ROWS_AT_ONCE,
): Promise<number> {
  const { chain, database, datasets, retention, logger, metrics } = options;
  const deleting = datasets.filter((dataset) => dataset.deletesOldRows === true && isDroppable(dataset));
  if (deleting.length === 0) return 0;
  // A reorg moves the window down: it must never include a deleted block.
  const below = (await readRetainedFrom(database, { chain, retention })) - chain.reorgDepthMax;
  if (below <= 0) return 0;
  let all = 0;
  for (const dataset of deleting) {
    let rows = 0;
    for (let deleted = -1; deleted !== 0 && !signal.aborted; rows += deleted)
      deleted = await deleteOldest(database, chain.id, dataset, { below, rowsAtOnce });
    if (rows === 0) continue;
    metrics.droppedRows.inc({ chain: chain.key, dataset: dataset.name }, rows);
    logger.info({ chain: chain.key, dataset: dataset.name, below, rows }, 'Rows of old blocks were deleted');
    all += rows;
  }
  return all;
}

export function lastOfOldest({ name }: Table, chainId: number, below: number, rows: number): Sql {
  return sql`SELECT max(block_number) AS block FROM (
    SELECT block_number FROM ${rawSql(name)} WHERE chain_id = ${chainId} AND block_number < ${below} ORDER BY block_number LIMIT ${rows}) AS oldest`;
}

/** Without statistics of a new table, Postgres would sort all its rows. */
export const IN_ORDER_OF_KEY = sql`SET LOCAL enable_sort = off`;

export function deletion({ name }: Table, chainId: number, to: number): Sql {
  return sql`WITH deleted AS (DELETE FROM ${rawSql(name)} WHERE chain_id = ${chainId} AND block_number <= ${to} RETURNING 1)
    SELECT count(*) AS rows FROM deleted`;
}

type Table = Pick<RowTable<never>, 'name'>;

type ChainId = RetentionOptions['chain']['id'];

/** Readers see rows with their coverage, or neither. 0: none is left. */
async function deleteOldest(
  database: Database,
  chainId: ChainId,
  dataset: Dataset,
  { below, rowsAtOnce }: { readonly below: number; readonly rowsAtOnce: number },
) {
  return database.transaction(async (transaction) => {
    await transaction.query(IN_ORDER_OF_KEY);
    const [last] = await transaction.query<{ block: number | null }>(
      lastOfOldest(dataset.table, chainId, below, rowsAtOnce),
    );
    const to = last?.block ?? null;
    if (to === null) return 0;
    // Invariant: SYNC-RETENTION-COVERAGE
    await uncoverIn(transaction, chainId, dataset, { from: 0, to });
    const [deleted] = await transaction.query<{ rows: number }>(deletion(dataset.table, chainId, to));
    return deleted?.rows ?? 0;
  });
}
