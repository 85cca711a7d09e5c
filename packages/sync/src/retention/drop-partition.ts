/**
 * Drops a partition while readers and writers of the others continue: its coverage is removed, it is detached, it is
 * dropped. A process may die after any step; the next one finds the remains and finishes.
 */
import { type BlockRange, type ChainId, parseChainId } from '@chainstead/core';
import {
  type Database,
  isDistributed,
  queryOn,
  rawSql,
  runStatements,
  type Sql,
  sql,
  type Transaction,
} from '@chainstead/db';
import { removeCoverage } from '../coverage/coverage.ts';
import { removeSubjectRanges } from '../coverage/subject-ranges.ts';
import type { Dataset } from '../dataset/dataset.ts';
import { lockChainCommits } from '../rows/write-batch.ts';

/** Runs a statement on a connection with a lock timeout. */
export type RunStatement = (statement: Sql) => Promise<void>;

/**
 * Maximum wait of a detachment for earlier transactions. It holds no lock that others need meanwhile. An unfinished one
 * is completed in the next round.
 */
const LOCK_WAIT_MS = 5_000;

/**
 * Runs work on its own connection, because `DETACH … CONCURRENTLY` can't be in a transaction and needs a lock timeout.
 * @param lockWaitMs maximum wait of a statement for a lock; 0: unlimited
 */
export async function withPatientSession<T>(
  database: Pick<Database, 'session'>,
  work: (run: RunStatement) => Promise<T>,
  lockWaitMs = LOCK_WAIT_MS,
): Promise<T> {
  const session = database.session();
  await session.connect();
  try {
    await queryOn(session, sql`SET lock_timeout = ${rawSql(lockWaitMs)}`);
    return await work(async (statement) => {
      await queryOn(session, statement);
    });
  } finally {
    await session.end();
  }
}

/**
 * Removes the coverage of the dataset and of all subjects in this range, and values derived from rows there. API
 * responses, status and gaps change immediately.
 */
export async function uncover(
  database: Pick<Database, 'transaction'>,
  chainId: ChainId,
  dataset: Pick<Dataset, 'name' | 'projections'>,
  range: BlockRange,
): Promise<void> {
  await database.transaction((transaction) => uncoverIn(transaction, chainId, dataset, range));
}

/** As {@link uncover}, under the chain's commit lock, which it takes. */
export async function uncoverIn(
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

/** A dataset, or any other table with partitions. */
interface NamedTable {
  readonly table: Pick<Dataset['table'], 'name'>;
}

/**
 * Detaches a partition from its table. Earlier statements still read it; later ones don't see it. Citus has no
 * concurrent detachment, so readers of a distributed table wait briefly.
 * @throws if earlier statements take too long
 */
export async function detachPartition(
  database: Pick<Database, 'query'>,
  run: RunStatement,
  { table }: NamedTable,
  partition: string,
): Promise<void> {
  const how = (await isDistributed(database, table.name)) ? '' : ' CONCURRENTLY';
  await run(rawSql(`ALTER TABLE ${table.name} DETACH PARTITION ${partition}${how}`));
}

/** A table that was a partition, or is about to be detached. */
export interface DetachedPartition {
  readonly name: string;
  readonly chainId: ChainId;
  /** Its bounds, if known. Otherwise they are derived by reading all its rows. */
  readonly blocks?: BlockRange;
  /** Whether its detachment has begun but not finished. */
  readonly isPending: boolean;
}

/** Returns partitions left half dropped by dead processes, of any chain. */
export async function findDetached(
  source: Pick<Database, 'query'>,
  { table }: NamedTable,
): Promise<readonly DetachedPartition[]> {
  const rows = await source.query<{ name: string; is_pending: boolean }>(
    sql`SELECT relname AS name, coalesce(inhdetachpending, false) AS is_pending
       FROM pg_class LEFT JOIN pg_inherits ON inhrelid = pg_class.oid
      WHERE relname ~ ('^' || ${table.name} || '_[0-9]+_[0-9]+$') AND relkind = 'r' AND relnamespace = current_schema()::regnamespace
        AND (inhrelid IS NULL OR inhdetachpending AND inhparent = to_regclass(${table.name})) ORDER BY relname`,
  );
  return rows.map(({ name, is_pending }) => {
    const [chainId] = name.slice(table.name.length + 1).split('_');
    return { name, chainId: parseChainId(Number(chainId)), isPending: is_pending };
  });
}

/**
 * Drops a partition that is detached or being detached. Writers recorded coverage until then, which is removed first.
 * @throws if statements from before the detachment take too long
 */
export async function dropDetached(
  database: Database,
  run: RunStatement,
  dataset: Pick<Dataset, 'projections' | 'name' | 'table'>,
  { name, chainId, isPending, blocks }: DetachedPartition,
): Promise<void> {
  if (isPending) await run(rawSql(`ALTER TABLE ${dataset.table.name} DETACH PARTITION ${name} FINALIZE`));
  const range = blocks ?? (await blocksOf(database, name));
  if (range !== null) await uncover(database, chainId, dataset, range);
  await run(rawSql(`DROP TABLE ${name}`));
}

async function blocksOf(database: Pick<Database, 'query'>, table: string): Promise<BlockRange | null> {
  const [held] = await database.query<{ from: number | null; to: number | null }>(
    sql`SELECT min(block_number) AS from, max(block_number) AS to FROM ${rawSql(table)}`,
  );
  return held === undefined || held.from === null || held.to === null ? null : { from: held.from, to: held.to };
}
