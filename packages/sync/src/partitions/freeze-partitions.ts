import type { Chain } from '@chainstead/chains';
import { type Clock, errorText, type Logger, sleepUnlessAborted, whenAborted } from '@chainstead/core';
import type { Database } from '@chainstead/db';
import type { Dataset } from '../dataset.ts';
import { quoted, readPartitions } from './read-partitions.ts';

export interface FreezeOptions {
  readonly chain: Chain;
  readonly database: Database;
  readonly datasets: readonly Dataset[];
  readonly clock: Clock;
  readonly logger: Logger;
}

const LOOK_AGAIN_MS = 10_000;
/** Fewer are left to autovacuum. */
const NEW_ROWS = 100_000;
/**
 * A rest of 2 ms after 20 pages, which take some 1 ms: 50 MB a second, more than a backfill writes. At full speed it takes a processor for half a second
 * at a time, and blocks that are followed meanwhile are late. Each page counts the same, whether it was written out before or not.
 */
const UNHURRIED = {
  vacuum_cost_delay: '2ms',
  vacuum_cost_limit: '20',
  vacuum_cost_page_hit: '1',
  vacuum_cost_page_miss: '1',
  vacuum_cost_page_dirty: '1',
};

/**
 * Freezes new rows of partitions soon after they were written, until the signal aborts. Whoever reads or vacuums a row for the first time marks its
 * page; after a checkpoint that page goes to the log whole, twice as many bytes as the row took. Autovacuum looks once a minute, which is too late
 * for a fast backfill. A failure is logged and tried again later.
 */
export async function keepFreezing(options: FreezeOptions, signal: AbortSignal): Promise<void> {
  const { chain, clock, logger } = options;
  while (!signal.aborted) {
    await sleepUnlessAborted(clock, LOOK_AGAIN_MS, signal);
    if (signal.aborted) return;
    try {
      await freezeNewRows(options, signal);
    } catch (error) {
      if (!signal.aborted)
        logger.warn({ chain: chain.key, error: errorText(error) }, 'New rows could not be frozen, it is tried again');
    }
  }
}

/** Freezes the rows of partitions that got many since they were vacuumed, without hurry. @returns their names */
export async function freezeNewRows(
  { chain, database, datasets }: Pick<FreezeOptions, 'chain' | 'database' | 'datasets'>,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const grown: string[] = [];
  for (const { table } of datasets) {
    if (!table.isPartitioned) continue;
    const names = await readGrown(database, table.name);
    if (names.size === 0) continue;
    for (const { name, isOwn } of await readPartitions(database, table, chain.id))
      if (isOwn && names.has(name)) grown.push(name);
  }
  if (grown.length > 0) await freezeUnhurriedly(database, grown, signal);
  return grown;
}

/** Vacuums what is new, unless somebody else works on the partition: nobody waits, and who reads or writes doesn't notice. */
export async function freezePartition(server: Pick<Database, 'query'>, name: string): Promise<void> {
  await server.query(freezing(name));
}

/** On a connection of its own, since it has settings. What is under way when the signal aborts is given up. */
async function freezeUnhurriedly(
  database: Pick<Database, 'session'>,
  names: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  const session = database.session();
  await session.connect();
  const forgetSignal = whenAborted(signal, () => void session.cancel().catch(() => session.destroy()));
  try {
    for (const [setting, value] of Object.entries(UNHURRIED)) await session.query(`SET ${setting} = '${value}'`);
    for (const name of names) {
      signal.throwIfAborted();
      await session.query(freezing(name));
    }
  } finally {
    forgetSignal();
    await session.end();
  }
}

function freezing(name: string): string {
  return `VACUUM (FREEZE, SKIP_LOCKED) ${quoted(name)}`;
}

async function readGrown(database: Pick<Database, 'query'>, table: string): Promise<ReadonlySet<string>> {
  const rows = await database.query<{ name: string }>(
    `SELECT relname AS name FROM pg_stat_all_tables JOIN pg_inherits ON inhrelid = relid
      WHERE inhparent = to_regclass($1) AND n_ins_since_vacuum >= $2`,
    [table, NEW_ROWS],
  );
  return new Set(rows.map(({ name }) => name));
}
