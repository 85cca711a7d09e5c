import type { Chain } from '@chainstead/chains';
import { type Clock, errorText, type Logger, sleepUnlessAborted } from '@chainstead/core';
import { type Database, tryAcquireLeadership } from '@chainstead/db';
import type { Dataset } from '../dataset.ts';
import { isDroppable, type KeepSettings } from '../keep-settings.ts';
import { readKeptFrom } from '../kept-from.ts';
import { type Partition, readPartitions } from '../partitions/read-partitions.ts';
import type { SyncMetrics } from '../sync-metrics.ts';
import {
  type DetachedPartition,
  detachPartition,
  dropDetached,
  findDetached,
  type RunStatement,
  uncover,
  withPatientSession,
} from './drop-partition.ts';

export interface RetentionOptions {
  readonly chain: Chain;
  readonly database: Database;
  readonly datasets: readonly Dataset[];
  /** @default all is kept */
  readonly keep?: KeepSettings | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Pick<SyncMetrics, 'droppedRows'>;
  /** How long a detachment waits for older transactions, in milliseconds; 0 for as long as it takes. @default 5000 */
  readonly lockWaitMs?: number | undefined;
}

const LOOK_AGAIN_MS = 60_000;

/** Drops partitions as they become too old, until the signal aborts. A failure is logged and tried again. */
export async function keepRetention(options: RetentionOptions, signal: AbortSignal): Promise<void> {
  const { chain, clock, logger } = options;
  while (!signal.aborted) {
    try {
      await dropOldPartitions(options, signal);
    } catch (error) {
      if (signal.aborted) return;
      logger.warn(
        { chain: chain.key, error: errorText(error) },
        'A partition of old blocks could not be dropped, it is tried again',
      );
    }
    await sleepUnlessAborted(clock, LOOK_AGAIN_MS, signal);
  }
}

/** Drops the partitions that lie below what is kept, and what an earlier process left of others. @returns their names */
export async function dropOldPartitions(options: RetentionOptions, signal: AbortSignal): Promise<readonly string[]> {
  const dropped: string[] = [];
  for (const dataset of options.datasets.filter(isDroppable)) {
    const unfinished = await findUnfinished(options, dataset);
    const old = await findOld(options, dataset);
    if (unfinished.length + old.length === 0) continue;
    await withTable(options, dataset, signal, async (run, stop) => {
      dropped.push(...(await dropUnfinished(options, dataset, run, stop)));
      for (const partition of old)
        if (!stop.aborted) dropped.push(await dropPartition(options, dataset, partition, run));
    });
  }
  return dropped;
}

/** Drops what an earlier process left, and nothing else. @returns false while another process is at it */
export async function finishDropping(options: RetentionOptions, signal: AbortSignal): Promise<boolean> {
  for (const dataset of options.datasets.filter(isDroppable)) {
    if ((await findUnfinished(options, dataset)).length === 0) continue;
    await withTable(options, dataset, signal, (run, stop) => dropUnfinished(options, dataset, run, stop));
    if ((await findUnfinished(options, dataset)).length > 0) return false;
  }
  return true;
}

/** Postgres detaches one partition of a table at a time: does nothing while another process drops some. */
async function withTable(
  { database, lockWaitMs }: RetentionOptions,
  { table }: Dataset,
  signal: AbortSignal,
  work: (run: RunStatement, stop: AbortSignal) => Promise<unknown>,
): Promise<void> {
  const { leadership } = await tryAcquireLeadership(database, `drop-partitions:${table.name}`);
  if (leadership === null) return;
  try {
    const stop = AbortSignal.any([signal, leadership.lost]);
    await withPatientSession(database, (run) => work(run, stop), lockWaitMs);
  } finally {
    await leadership.release();
  }
}

/** What is left of the chain, and what keeps others from being detached. */
async function findUnfinished(
  { chain, database }: RetentionOptions,
  dataset: Dataset,
): Promise<readonly DetachedPartition[]> {
  const detached = await findDetached(database, dataset);
  return detached.filter(({ chainId, isPending }) => isPending || chainId === chain.id);
}

/** The partitions that lie below the retention window, ascending. */
async function findOld({ chain, database, keep }: RetentionOptions, dataset: Dataset): Promise<readonly Partition[]> {
  const keptFrom = await readKeptFrom(database, { chain, keep });
  if (keptFrom === 0) return [];
  // A reorganisation takes the checkpoint back, and what is kept with it: that must not begin below what was dropped.
  const partitions = await readPartitions(database, dataset.table, chain.id);
  return partitions.filter(({ to }) => to + chain.reorgDepthMax <= keptFrom);
}

async function dropUnfinished(
  options: RetentionOptions,
  dataset: Dataset,
  run: RunStatement,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const { chain, database, logger } = options;
  const dropped: string[] = [];
  for (const detached of await findUnfinished(options, dataset)) {
    if (signal.aborted) break;
    await dropDetached(database, run, dataset, detached);
    logger.info({ chain: chain.key, partition: detached.name }, 'A partition that was detached earlier was dropped');
    dropped.push(detached.name);
  }
  return dropped;
}

async function dropPartition(
  { chain, database, logger, metrics }: RetentionOptions,
  dataset: Dataset,
  { name, from, to, rows }: Partition,
  run: RunStatement,
): Promise<string> {
  const bytes = await sizeOf(database, name);
  const blocks = { from: 0, to: to - 1 };
  await uncover(database, chain.id, dataset, blocks);
  await detachPartition(database, run, dataset, name);
  await dropDetached(database, run, dataset, { name, chainId: chain.id, isPending: false, blocks });
  metrics.droppedRows.inc({ chain: chain.key, dataset: dataset.name }, rows);
  const facts = { chain: chain.key, partition: name, block_range: `${from}-${to - 1}`, rows, bytes };
  logger.info(facts, 'A partition of old blocks was dropped');
  return name;
}

/** Indexes included. */
async function sizeOf(database: Database, table: string): Promise<number> {
  const [row] = await database.query<{ bytes: number }>('SELECT pg_total_relation_size(to_regclass($1)) AS bytes', [
    table,
  ]);
  return row?.bytes ?? 0;
}
