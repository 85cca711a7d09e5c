import type { Chain } from '@chainstead/chains';
import { type Clock, errorText, type Logger, sleepUnlessAborted } from '@chainstead/core';
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

/** Freezes the rows of partitions that got many since they were vacuumed. @returns their names */
export async function freezeNewRows(
  { chain, database, datasets }: Pick<FreezeOptions, 'chain' | 'database' | 'datasets'>,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const frozen: string[] = [];
  for (const { table } of datasets) {
    if (!table.isPartitioned) continue;
    const grown = await readGrown(database, table.name);
    if (grown.size === 0) continue;
    for (const { name, isOwn } of await readPartitions(database, table, chain.id)) {
      if (signal.aborted) return frozen;
      if (!isOwn || !grown.has(name)) continue;
      await freezePartition(database, name);
      frozen.push(name);
    }
  }
  return frozen;
}

/** Vacuums what is new, unless somebody else works on the partition: nobody waits, and who reads or writes doesn't notice. */
export async function freezePartition(database: Pick<Database, 'query'>, name: string): Promise<void> {
  await database.query(`VACUUM (FREEZE, SKIP_LOCKED) ${quoted(name)}`);
}

async function readGrown(database: Pick<Database, 'query'>, table: string): Promise<ReadonlySet<string>> {
  const rows = await database.query<{ name: string }>(
    `SELECT relname AS name FROM pg_stat_all_tables JOIN pg_inherits ON inhrelid = relid
      WHERE inhparent = to_regclass($1) AND n_ins_since_vacuum >= $2`,
    [table, NEW_ROWS],
  );
  return new Set(rows.map(({ name }) => name));
}
