import { type BlockHeader, errorText, sleepUnlessAborted } from '@chainstead/core';
import { type RunStatement, sql, tryAcquireLeadership, withPatientSession } from '@chainstead/db';
import type { UpstreamPool } from '@chainstead/rpc';
import { readChainState } from '../checkpoint.ts';
import { firstStoredSince, isDroppable, readRetainedFrom, readSettledHeight } from '../coverage/retained-from.ts';
import type { Dataset } from '../dataset/dataset.ts';
import { type Partition, readPartitionsOf } from '../partitions/read-partitions.ts';
import {
  deleteOldRows,
  detachPartition,
  dropDetached,
  findDetached,
  type RetentionOptions,
  uncover,
} from './delete-old-rows.ts';

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

const TRY_AGAIN_MS = 5_000;

/** Half dropped partitions would drop new rows. Retries until done. @throws only if aborted */
export async function settleRetention(
  options: RetentionOptions & SinceOptions,
  signal: AbortSignal,
): Promise<void> {
  const { chain, clock, logger } = options;
  for (;;) {
    try {
      if (await finishDropping(options, signal)) return await settleRetainedSince(options, signal);
    } catch (error) {
      signal.throwIfAborted();
      logger.warn(
        { chain: chain.key, error: errorText(error) },
        'Retention window not found yet; the backfill waits for it, retrying',
      );
    }
    await clock.sleep(TRY_AGAIN_MS, signal);
  }
}

type SinceOptions = Pick<RetentionOptions, 'chain' | 'database' | 'retention'> & { readonly pool: UpstreamPool };

/** The headers on both sides of the start time. Bisects with one upstream call per step. */
export async function settleRetainedSince(
  { chain, pool, database, retention }: SinceOptions,
  signal: AbortSignal,
): Promise<void> {
  const since = retention?.since ?? null;
  const state = await readChainState(database, chain.id);
  if (since === null || state === null) return;
  const stored = await firstStoredSince(database, chain.id, since);
  const [later] = await database.query<{ block: number }>(
    sql`SELECT block_number AS block FROM blocks WHERE chain_id = ${chain.id} AND block_number >= ${stored} ORDER BY block_number LIMIT 1`,
  );
  const followed = state.checkpoint === null ? state.firstFollowed - 1 : state.checkpoint.number;
  let low = Math.max(stored, state.historyStart, chain.firstBlock);
  let high = later?.block ?? Math.min(followed, await readSettledHeight(pool, chain)) + 1;
  const headers = new Map<number, BlockHeader>();
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const header = (await pool.getHeaders([middle], { signal }))[0]?.value;
    if (header === undefined) throw new RangeError(`No upstream gave the header of block ${middle}`);
    headers.set(middle, header);
    if (header.timestamp * 1_000 < since.getTime()) low = middle + 1;
    else high = middle;
  }
  for (const number of [low - 1, low]) {
    const header = headers.get(number);
    if (header === undefined) continue;
    await database.query(
      sql`INSERT INTO blocks (chain_id, block_number, block_hash, parent_hash, block_timestamp)
       VALUES (${chain.id}, ${header.number}, decode(${header.hash.slice(2)}, 'hex'), decode(${header.parentHash.slice(2)}, 'hex'), to_timestamp(${header.timestamp})) ON CONFLICT DO NOTHING`,
    );
  }
}
