import { type Clock, errorText, type Logger, parseChainId, sleepUnlessAborted } from '@chainstead/core';
import { type Database, type Transaction, tryAcquireLeadership } from '@chainstead/db';
import { retryCommit } from '../commit-retry.ts';
import type { Dataset } from '../dataset.ts';
import { ensurePartitions } from '../partitions/ensure-partitions.ts';
import { tableWithoutPartition } from '../partitions/with-partitions.ts';
import { movingStatement, type ReplacedTable, replacedTables } from './former-rows.ts';

export interface MoveRowsOptions {
  readonly database: Database;
  readonly datasets: readonly Dataset[];
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Pages of the former table that one transaction empties: some 20,000 rows, a second at most. */
const PAGES_PER_PIECE = 512;
/** Another process may be moving rows, or may end while it does. */
const LOOK_AGAIN_MS = 15_000;
const REPORT_MS = 60_000;
/** The end of the table is given back to the disk after so many pieces. */
const PIECES_PER_VACUUM = 100;
/** Emptying the file waits so long for statements that read the table, and lets others wait no longer. */
const TRUNCATE_WAIT_MS = 1_000;

/**
 * Moves what former tables hold into the present ones, until all of them are empty or the signal aborts. Of all processes one does it. It rests for as
 * long as a piece has taken, so that pages and commits keep half of the database. A failure is logged and tried again later.
 */
export async function moveFormerRows(options: MoveRowsOptions, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    try {
      if (await moveAll(options, signal)) return;
    } catch (error) {
      if (signal.aborted) return;
      options.logger.warn(
        { error: errorText(error) },
        'Rows of a former table could not be moved, it is tried again; pages show them from where they are',
      );
    }
    await sleepUnlessAborted(options.clock, LOOK_AGAIN_MS, signal);
  }
}

/** @returns true when nothing is left to do, false when another process is at it */
async function moveAll(options: MoveRowsOptions, signal: AbortSignal): Promise<boolean> {
  const filled: ReplacedTable[] = [];
  for (const replaced of await replacedTables(options.database, options.datasets))
    if (await holdsRows(options.database, replaced)) filled.push(replaced);
  if (filled.length === 0) return true;
  const { leadership } = await tryAcquireLeadership(options.database, 'move-former-rows');
  if (leadership === null) return false;
  try {
    const stop = AbortSignal.any([signal, leadership.lost]);
    for (const replaced of filled) await emptyTable(options, replaced, stop);
  } finally {
    await leadership.release();
  }
  return !signal.aborted;
}

/** Whether rows are in the former table. */
export async function holdsRows(source: Pick<Database, 'query'>, { former }: ReplacedTable): Promise<boolean> {
  const [row] = await source.query<{ holds: boolean }>(`SELECT EXISTS (SELECT FROM ${former.table}) AS holds`);
  return row?.holds === true;
}

async function emptyTable(options: MoveRowsOptions, replaced: ReplacedTable, signal: AbortSignal): Promise<void> {
  const { database, clock, logger } = options;
  const { table: from } = replaced.former;
  const pages = await countPages(database, from);
  logger.info({ from, to: replaced.table.name, pages }, 'Moving rows to the table with partitions');
  let reportedAt = clock.now();
  let pieces = 0;
  // From the end, so that what is emptied can be cut off.
  for (let end = pages; end > 0 && !signal.aborted; end -= PAGES_PER_PIECE) {
    const started = clock.now();
    await movePages(database, replaced, Math.max(0, end - PAGES_PER_PIECE), end);
    const ended = clock.now();
    if (ended - reportedAt > REPORT_MS) {
      logger.info(
        { from, part: Math.round((1 - end / pages) * 1000) / 1000 },
        'Moving rows to the table with partitions',
      );
      reportedAt = ended;
    }
    pieces += 1;
    if (pieces % PIECES_PER_VACUUM === 0) await database.query(`VACUUM (INDEX_CLEANUP OFF, SKIP_LOCKED) ${from}`);
    await sleepUnlessAborted(clock, ended - started, signal);
  }
  if (signal.aborted) return;
  await truncateEmpty(database, replaced);
  logger.info({ from, to: replaced.table.name }, 'All rows are in the table with partitions');
}

async function countPages(database: Database, table: string): Promise<number> {
  const [row] = await database.query<{ pages: number }>(
    `SELECT pg_relation_size($1::regclass) / current_setting('block_size')::bigint AS pages`,
    [table],
  );
  return row?.pages ?? 0;
}

/**
 * Moves the rows of some pages of the former table, in one transaction. Safe to run again, and beside everything else.
 * @param from first page. @param to the page after the last
 */
export async function movePages(database: Database, replaced: ReplacedTable, from: number, to: number): Promise<void> {
  const pages = `ctid >= '(${from},0)'::tid AND ctid < '(${to},0)'::tid`;
  const move = (): Promise<unknown> =>
    retryCommit(() => database.transaction((transaction) => transaction.query(movingStatement(replaced, pages))));
  try {
    await move();
  } catch (error) {
    if (tableWithoutPartition(error) !== replaced.table.name) throw error;
    await makePlaces(database, replaced, pages);
    await move();
  }
}

async function makePlaces(database: Database, { table, former }: ReplacedTable, pages: string): Promise<void> {
  const blocks = await database.query<{ chain_id: number; block_number: number; rows: number }>(
    `SELECT chain_id, block_number, count(*)::int AS rows FROM ${former.table} WHERE ${pages}
      GROUP BY chain_id, block_number ORDER BY chain_id, block_number`,
  );
  for (const [chainId, ofChain] of Map.groupBy(blocks, ({ chain_id }) => chain_id)) {
    const runs = ofChain.map(({ block_number }) => ({ from: block_number, to: block_number }));
    const density = { rows: ofChain.reduce((sum, { rows }) => sum + rows, 0), blocks: ofChain.length };
    await ensurePartitions(database, table, parseChainId(chainId), runs, density);
  }
}

/** Gives the disk back, where the program may: not where rows are there after all, or somebody reads the table at this moment. */
async function truncateEmpty(database: Database, replaced: ReplacedTable): Promise<void> {
  const { table } = replaced.former;
  const [right] = await database.query<{ is_given: boolean }>(
    "SELECT has_table_privilege($1, 'TRUNCATE') AS is_given",
    [table],
  );
  if (right?.is_given !== true) return;
  await database.transaction(async (transaction: Transaction) => {
    await transaction.query(`SET LOCAL lock_timeout = ${TRUNCATE_WAIT_MS}`);
    await transaction.query(`LOCK TABLE ${table} IN ACCESS EXCLUSIVE MODE`);
    if (!(await holdsRows(transaction, replaced))) await transaction.query(`TRUNCATE ${table}`);
  });
}
