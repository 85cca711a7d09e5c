/**
 * How a partition leaves its table while readers and writers of the others go on: its blocks are not covered any more, it is detached,
 * it is dropped. Each step may be the last one of a process; the next finds what is left and finishes it.
 */
import { type BlockRange, type ChainId, parseChainId } from '@chainstead/core';
import { type Database, isDistributed } from '@chainstead/db';
import { removeCoverage } from '../coverage.ts';
import type { Dataset } from '../dataset.ts';
import { removeSubjectRanges } from '../histories/subject-ranges.ts';
import { lockChainCommits } from '../write-batch.ts';

/** What statements on a connection that waits for locks no longer than this are run with. */
export type RunStatement = (statement: string) => Promise<void>;

/**
 * So long a detachment waits for transactions that began before it. It holds nothing meanwhile that others need; what is not through by then is finished
 * in the next round.
 */
const LOCK_WAIT_MS = 5_000;

/**
 * Runs work with a connection of its own: `DETACH … CONCURRENTLY` can't be in a transaction, and its locks must not be waited for endlessly.
 * @param lockWaitMs how long a statement waits for a lock; 0 for as long as it takes
 */
export async function withPatientSession<T>(
  database: Pick<Database, 'session'>,
  work: (run: RunStatement) => Promise<T>,
  lockWaitMs = LOCK_WAIT_MS,
): Promise<T> {
  const session = database.session();
  await session.connect();
  try {
    await session.query(`SET lock_timeout = ${lockWaitMs}`);
    return await work(async (statement) => {
      await session.query(statement);
    });
  } finally {
    await session.end();
  }
}

/**
 * Blocks from here to there are not covered by the dataset from now on, of nobody: answers, status and gaps follow at once, and so does what was counted of
 * rows there.
 */
export async function uncover(
  database: Pick<Database, 'transaction'>,
  chainId: ChainId,
  { name, derived = [] }: Pick<Dataset, 'name' | 'derived'>,
  range: BlockRange,
): Promise<void> {
  await database.transaction(async (transaction) => {
    await lockChainCommits(transaction, { id: chainId });
    await removeCoverage(transaction, chainId, [name], range);
    await removeSubjectRanges(transaction, chainId, name, range);
    for (const statement of derived.flatMap((state) => state.dropped?.(chainId, range) ?? []))
      await transaction.query(statement);
  });
}

/**
 * Takes a partition from its table. Statements that began before go on reading it; later ones don't know it. From a distributed table, which
 * Citus does in no other way, it is taken while nobody reads: for the moment that takes, readers wait.
 * @throws when statements that began before take too long
 */
export async function detachPartition(
  database: Pick<Database, 'query'>,
  run: RunStatement,
  { table }: Pick<Dataset, 'table'>,
  partition: string,
): Promise<void> {
  const how = (await isDistributed(database, table.name)) ? '' : ' CONCURRENTLY';
  await run(`ALTER TABLE ${table.name} DETACH PARTITION ${partition}${how}`);
}

/** A table that was a partition, or is about to be none. */
export interface DetachedPartition {
  readonly name: string;
  readonly chainId: ChainId;
  /** Its bounds, where they are known; else its rows tell, all of which are read. */
  readonly blocks?: BlockRange;
  /** Its detachment has begun and not ended. */
  readonly isPending: boolean;
}

/** What a process left that ended between two steps, of any chain. */
export async function findDetached(
  source: Pick<Database, 'query'>,
  { table }: Pick<Dataset, 'table'>,
): Promise<readonly DetachedPartition[]> {
  const rows = await source.query<{ name: string; is_pending: boolean }>(
    `SELECT relname AS name, coalesce(inhdetachpending, false) AS is_pending
       FROM pg_class LEFT JOIN pg_inherits ON inhrelid = pg_class.oid
      WHERE relname ~ ('^' || $1 || '_[0-9]+_[0-9]+$') AND relkind = 'r' AND relnamespace = current_schema()::regnamespace
        AND (inhrelid IS NULL OR inhdetachpending AND inhparent = to_regclass($1)) ORDER BY relname`,
    [table.name],
  );
  return rows.map(({ name, is_pending }) => {
    const [chainId] = name.slice(table.name.length + 1).split('_');
    return { name, chainId: parseChainId(Number(chainId)), isPending: is_pending };
  });
}

/**
 * Drops a partition that was detached, or is being detached. Whoever wrote to it until then recorded what it wrote as covered, which is
 * taken back before.
 * @throws when statements that began before the detachment take too long
 */
export async function dropDetached(
  database: Database,
  run: RunStatement,
  dataset: Pick<Dataset, 'derived' | 'name' | 'table'>,
  { name, chainId, isPending, blocks }: DetachedPartition,
): Promise<void> {
  if (isPending) await run(`ALTER TABLE ${dataset.table.name} DETACH PARTITION ${name} FINALIZE`);
  const range = blocks ?? (await blocksOf(database, name));
  if (range !== null) await uncover(database, chainId, dataset, range);
  await run(`DROP TABLE ${name}`);
}

async function blocksOf(database: Pick<Database, 'query'>, table: string): Promise<BlockRange | null> {
  const [held] = await database.query<{ from: number | null; to: number | null }>(
    `SELECT min(block_number) AS from, max(block_number) AS to FROM ${table}`,
  );
  return held === undefined || held.from === null || held.to === null ? null : { from: held.from, to: held.to };
}
