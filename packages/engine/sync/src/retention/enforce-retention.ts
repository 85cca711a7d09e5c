import { errorText, sleepUnlessAborted } from '@chainstead/core';
import { type RunStatement, sql, tryAcquireLeadership, withPatientSession } from '@chainstead/db';
import { readRetainedFrom } from '../coverage/retained-from.ts';
import { isDroppable } from '../coverage/retention-settings.ts';
import type { Dataset } from '../dataset/dataset.ts';
import { type Partition, readPartitionsOf } from '../partitions/read-partitions.ts';
import { deleteOldRows } from './delete-old-rows.ts';
import { detachPartition, dropDetached, findDetached, uncover } from './drop-partition.ts';
import type { RetentionOptions } from './retention-options.ts';

const LOOK_AGAIN_MS = 60_000;

export async function enforceRetention(options: RetentionOptions, signal: AbortSignal): Promise<void> {
  const { chain, clock, logger } = options;
  while (!signal.aborted) {
    try {
      await dropOldPartitions(options, signal);
      await deleteOldRows(options, signal);
    } catch (error) {
      if (signal.aborted) return;
      logger.warn(
        { chain: chain.key, error: errorText(error) },
        'Rows of old blocks could not be dropped, it is tried again',
      );
    }
    await sleepUnlessAborted(clock, LOOK_AGAIN_MS, signal);
  }
}

export async function dropOldPartitions(
  options: RetentionOptions,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const dropped: string[] = [];
  const datasets = options.datasets.filter(hasDroppablePartitions);
  const unfinished = await findUnfinished(options, datasets);
  const old = await findOld(options, datasets);
  for (const dataset of datasets) {
    const { name } = dataset.table;
    if (!old.has(name) && unfinished.every(({ table }) => table !== name)) continue;
    await withTable(options, dataset, signal, async (run, stop) => {
      dropped.push(...(await dropUnfinished(options, dataset, run, stop)));
      // Another process may have dropped some while this one was at earlier tables.
      for (const partition of (await findOld(options, [dataset])).get(name) ?? [])
        if (!stop.aborted) dropped.push(await dropPartition(options, dataset, partition, run));
    });
  }
  return dropped;
}

/** Finishes for earlier processes. False while another process drops partitions. */
export async function finishDropping(options: RetentionOptions, signal: AbortSignal): Promise<boolean> {
  const datasets = options.datasets.filter(hasDroppablePartitions);
  const unfinished = await findUnfinished(options, datasets);
  for (const dataset of datasets.filter(({ table }) => unfinished.some((one) => one.table === table.name)))
    await withTable(options, dataset, signal, (run, stop) => dropUnfinished(options, dataset, run, stop));
  return unfinished.length === 0 || (await findUnfinished(options, datasets)).length === 0;
}

function hasDroppablePartitions(dataset: Dataset): boolean {
  return dataset.table.isPartitioned && isDroppable(dataset);
}

/** Does nothing while another process drops some: Postgres detaches one at a time. */
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
    // One attempt: the next look finishes it.
    const options = { tables: table.name, lockWaitMs, giveUpAfterMs: 0 };
    await withPatientSession(database, options, (run) => work(run, stop));
  } finally {
    await leadership.release();
  }
}

/** Also pending detachments of any chain, which block others. */
async function findUnfinished({ chain, database }: RetentionOptions, datasets: readonly Dataset[]) {
  const detached = await findDetached(
    database,
    datasets.map(({ table }) => table.name),
  );
  return detached.filter(({ chainId, isPending }) => isPending || chainId === chain.id);
}

/** By table; only tables that have some. */
async function findOld(
  { chain, database, retention }: RetentionOptions,
  datasets: readonly Dataset[],
): Promise<ReadonlyMap<string, readonly Partition[]>> {
  const retainedFrom = await readRetainedFrom(database, { chain, retention });
  if (retainedFrom === 0) return new Map();
  const partitions = await readPartitionsOf(
    database,
    datasets.map(({ table }) => table),
    chain.id,
  );
  // A reorg moves the window down: it must never include a dropped block.
  const isOld = ({ to }: Partition) => to + chain.reorgDepthMax <= retainedFrom;
  const old = [...partitions].map(([table, all]) => [table, all.filter(isOld)] as const);
  return new Map(old.filter(([, some]) => some.length > 0));
}

async function dropUnfinished(
  options: RetentionOptions,
  dataset: Dataset,
  run: RunStatement,
  signal: AbortSignal,
) {
  const { chain, database, logger } = options;
  const dropped: string[] = [];
  for (const detached of await findUnfinished(options, [dataset])) {
    if (signal.aborted) break;
    await dropDetached(database, run, dataset, detached);
    logger.info(
      { chain: chain.key, partition: detached.name },
      'A partition that was detached earlier was dropped',
    );
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
  const [size] = await database.query<{ bytes: number | null }>(
    sql`SELECT pg_total_relation_size(to_regclass(${name})) AS bytes`,
  );
  const blocks = { from: 0, to: to - 1 };
  // Invariant: SYNC-RETENTION-COVERAGE
  await uncover(database, chain.id, dataset, blocks);
  await detachPartition(database, run, dataset, name);
  await dropDetached(database, run, dataset, { name, chainId: chain.id, isPending: false, blocks });
  metrics.droppedRows.inc({ chain: chain.key, dataset: dataset.name }, rows);
  const facts = {
    chain: chain.key,
    partition: name,
    block_range: `${from}-${to - 1}`,
    rows,
    bytes: size?.bytes ?? 0,
  };
  logger.info(facts, 'A partition of old blocks was dropped');
  return name;
}
