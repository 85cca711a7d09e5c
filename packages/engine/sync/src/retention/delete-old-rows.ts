import type { Chain } from '@chainstead/chains';
import { type BlockRange, type ChainId, type Clock, type Logger, parseChainId } from '@chainstead/core';
import {
  type Database,
  isDistributed,
  type RunStatement,
  rawSql,
  runStatements,
  type Sql,
  sql,
  type Transaction,
} from '@chainstead/db';
import { removeCoverage } from '../coverage/coverage.ts';
import { isDroppable, type RetentionSettings, readRetainedFrom } from '../coverage/retained-from.ts';
import { removeSubjectRanges } from '../coverage/subject.ts';
import type { Dataset } from '../dataset/dataset.ts';
import type { RowTable } from '../dataset/row-table.ts';
import { isNamedAsPartition } from '../partitions/read-partitions.ts';
import { lockChainCommits } from '../rows/commit-retry.ts';
import type { SyncMetrics } from '../sync-metrics.ts';

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

/** Also the coverage of all subjects, and values derived from rows there. */
export async function uncover(
  database: Pick<Database, 'transaction'>,
  chainId: ChainId,
  dataset: Pick<Dataset, 'name' | 'projections'>,
  range: BlockRange,
): Promise<void> {
  await database.transaction((transaction) => uncoverIn(transaction, chainId, dataset, range));
}

/** Takes the chain's commit lock. */
async function uncoverIn(
  transaction: Transaction,
  chainId: ChainId,
  { name, projections = [] }: Pick<Dataset, 'name' | 'projections'>,
  range: BlockRange,
): Promise<void> {
  await lockChainCommits(transaction, { id: chainId });
  await removeCoverage(transaction, chainId, [name], range);
  await removeSubjectRanges(transaction, chainId, name, range);
  await runStatements(
    transaction,
    projections.flatMap((state) => state.dropped?.(chainId, range) ?? []),
  );
}

type NamedTable = { readonly table: Pick<Dataset['table'], 'name'> };

/** Earlier statements still read it. @throws if they take too long */
export async function detachPartition(
  database: Pick<Database, 'query'>,
  run: RunStatement,
  { table }: NamedTable,
  partition: string,
): Promise<void> {
  const how = (await isDistributed(database, table.name)) ? '' : ' CONCURRENTLY';
  await run(rawSql(`ALTER TABLE ${table.name} DETACH PARTITION ${partition}${how}`));
}

interface DetachedPartition {
  readonly table: string;
  readonly name: string;
  readonly chainId: ChainId;
  /** Absent: derived by reading all rows. */
  readonly blocks?: BlockRange;
  readonly isPending: boolean;
}

/** One statement for all tables. @param tables names as in SQL */
export async function findDetached(
  source: Pick<Database, 'query'>,
  tables: readonly string[],
): Promise<readonly DetachedPartition[]> {
  const partitions = await source.query<Omit<DetachedPartition, 'chainId' | 'blocks'> & { chain: string }>(
    // Names of thousands of attached partitions would be compared with each table.
    sql`WITH part AS MATERIALIZED (
         SELECT pg_class.oid, relname, relnamespace, inhparent FROM pg_class LEFT JOIN pg_inherits ON inhrelid = pg_class.oid AND inhdetachpending
          WHERE relkind = 'r' AND (NOT relispartition OR inhdetachpending) AND relname ~ '[_$][0-9]+_[0-9]+$')
       SELECT wanted AS table, part.oid::regclass::text AS name, substring(part.relname FROM '([0-9]+)_[0-9]+$') AS chain,
         inhparent IS NOT NULL AS is_pending
       FROM part JOIN pg_class AS whole ON whole.relnamespace = part.relnamespace AND (inhparent IS NULL OR inhparent = whole.oid)
         JOIN unnest(${tables}::text[]) AS wanted ON whole.oid = to_regclass(wanted)
      WHERE ${isNamedAsPartition('part', 'whole')} ORDER BY part.relname`,
  );
  return partitions.map(({ chain, ...partition }) => ({ ...partition, chainId: parseChainId(Number(chain)) }));
}

/** Removes coverage recorded until now. @throws if earlier statements take too long */
export async function dropDetached(
  database: Database,
  run: RunStatement,
  dataset: Pick<Dataset, 'projections' | 'name' | 'table'>,
  { name, chainId, isPending, blocks }: Omit<DetachedPartition, 'table'>,
): Promise<void> {
  if (isPending) await run(rawSql(`ALTER TABLE ${dataset.table.name} DETACH PARTITION ${name} FINALIZE`));
  const range = blocks ?? (await blocksOf(database, name));
  if (range !== null) await uncover(database, chainId, dataset, range);
  await run(rawSql(`DROP TABLE ${name}`));
}

async function blocksOf(database: Pick<Database, 'query'>, table: string): Promise<BlockRange | null> {
  const [blocks] = await database.query<BlockRange>(
    sql`SELECT min(block_number) AS from, max(block_number) AS to FROM ${rawSql(table)} HAVING count(*) > 0`,
  );
  return blocks ?? null;
}

export interface RetentionOptions {
  readonly chain: Chain;
  readonly database: Database;
  readonly datasets: readonly Dataset[];
  /** @default all blocks are retained */
  readonly retention?: RetentionSettings | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Pick<SyncMetrics, 'droppedRows'>;
  /** How long a detachment waits for earlier transactions; 0: unlimited. @default 1000 */
  readonly lockWaitMs?: number | undefined;
}
