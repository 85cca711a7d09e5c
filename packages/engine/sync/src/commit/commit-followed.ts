/** One transaction of the follower. A second run fails at the checkpoint and writes nothing. */
import type { Chain } from '@chainstead/chains';
import { type Database, type Leadership, runStatements, sql, type Transaction } from '@chainstead/db';
import { type Checkpoint, moveCheckpoint } from '../checkpoint.ts';
import { type Coverage, recordCoverage, removeCoverage } from '../coverage/coverage.ts';
import { raiseLinked } from '../coverage/linked-blocks.ts';
import { removeSubjectRanges } from '../coverage/subject.ts';
import type { Dataset } from '../dataset/dataset.ts';
import { type BlockPart, deepestPart, partsOf } from '../dataset/whole-block.ts';
import { SenderContradictedError } from '../errors.ts';
import { deriveAdded, deriveRemoved } from '../projections/derive-changes.ts';
import {
  isFollowed,
  type ProjectionRecord,
  projectionsOf,
  readProjectionRecords,
  requireAsExpected,
} from '../projections/projection-record.ts';
import type { BlockWatcher } from '../read/block-watcher.ts';
import { type DecodeFailure, recordDatasetFailures } from '../read/dataset-failures.ts';
import { type BlockFacts, batchOf, createBatchDecoder, type DecodedBatch } from '../read/decoded-batch.ts';
import { levelsOf } from '../read/part-levels.ts';
import type { ProvenBlock } from '../read/proven-block.ts';
import { lockChainCommits } from '../rows/commit-retry.ts';
import { type KnownContracts, writeContracts } from '../rows/known-contracts.ts';
import { addRows, removeRows } from '../rows/row-changes.ts';
import { writeRows } from '../rows/write-batch.ts';
import type { SyncMetrics } from '../sync-metrics.ts';
import { ALONE, awaitPredecessor, type CommitSlot } from './commit-pipeline.ts';
import { commitRows, independentOf, NO_WATCHES, requireCurrent, writeDependentRows } from './commit-rows.ts';

export interface FollowedCommit {
  readonly from: Checkpoint | null;
  /** Null: no rollback. */
  readonly ancestor: number | null;
  /** Linked, ascending, never empty. */
  readonly blocks: readonly ProvenBlock[];
  /** Absent: not decoded yet. */
  readonly batch?: DecodedBatch;
  /** @default no other commit is running */
  readonly slot?: CommitSlot;
}

export interface CommitDependencies {
  readonly database: Database;
  readonly chain: Chain;
  readonly datasets: readonly Dataset[];
  readonly knownContracts: KnownContracts;
  /** Without it, no block is followed. */
  readonly leadership?: Pick<Leadership, 'confirm'>;
  readonly watcher?: BlockWatcher;
  /** Blocks without matching streams. @default none */
  readonly unmatched?: ReadonlySet<number>;
  /** Per dataset, in memory. @default ROWS_AT_ONCE */
  readonly rowsAtOnce?: number;
  readonly metrics?: Pick<SyncMetrics, 'rows'>;
}

const EMPTY_RANGE = { blocks: 'empty-range', rows: 'empty-range' } as const;

/** @throws CheckpointMovedError, WatchNeedsChangedError; LEADERSHIP_LOST */
export async function commitFollowed(
  dependencies: CommitDependencies,
  commit: FollowedCommit,
): Promise<Checkpoint> {
  const { chain, datasets, knownContracts } = dependencies;
  const last = commit.blocks.at(-1);
  if (last === undefined) throw new RangeError('A commit needs at least one block');
  const to = { number: last.header.number, hash: last.header.hash };
  const facts: BlockFacts[] = commit.blocks.map(({ header }) => header);
  const batch = commit.batch ?? decodeFollowed(dependencies, commit.blocks);
  const blocks = [{ from: facts[0]?.number ?? to.number, to: to.number }];
  const written = [...datasets, ...(dependencies.watcher?.rows?.datasets(chain) ?? [])];
  const placed = { blocks, batch, kept: datasets };
  await dependencies.watcher?.prepare?.(chain, commit.blocks, dependencies.unmatched);
  // Another process may have written existing rows: the checkpoint decides, under the lock.
  const { contracts, rows } = await commitRows(dependencies, written, placed, ({ lockFirst, rowsMayExist }) =>
    writeFollowed(dependencies, commit, to, batch, lockFirst || rowsMayExist || commit.ancestor !== null),
  );
  knownContracts.add(contracts);
  for (const [dataset, count] of rows) dependencies.metrics?.rows.inc({ chain: chain.key, dataset }, count);
  return to;
}

/** Only the leader writes above the checkpoint, so its commits may overlap. */
async function writeFollowed(
  dependencies: CommitDependencies,
  commit: FollowedCommit,
  to: Checkpoint,
  batch: DecodedBatch,
  lockFirst: boolean,
) {
  const { database, chain, datasets, knownContracts, watcher } = dependencies;
  const { slot = ALONE } = commit;
  // Holds no connection: the previous commit may need one.
  if (lockFirst) await slot.reached();
  const write = async (transaction: Transaction) => {
    const known = lockFirst
      ? await moveUnderLock(transaction, dependencies, commit, to)
      : await readProjectionRecords(transaction, chain.id);
    if (commit.ancestor !== null && commit.from !== null)
      await rollBack(transaction, dependencies, commit.ancestor, commit.from.number);
    const expected = commit.ancestor === null ? known : await readProjectionRecords(transaction, chain.id);
    const independent = batchOf(batch, independentOf(datasets));
    const added = await writeRows(transaction, independent, EMPTY_RANGE, {
      isFollowed: (dataset) => isFollowed(dataset, expected),
    });
    slot.written();
    // Invariant: PROOF-SENDERS
    // Senders are recovered while rows are written.
    for (const { header, upstream, sendersHold } of commit.blocks)
      if ((await sendersHold) === false)
        throw new SenderContradictedError({ chain: chain.key, block: header.number, upstream });
    let states = expected;
    if (!lockFirst) {
      await awaitPredecessor(slot);
      states = await moveUnderLock(transaction, dependencies, commit, to);
      requireAsExpected(datasets, expected, states);
    }
    const dependent = await writeDependentRows(transaction, {
      ...{ chain, datasets, batch, mode: EMPTY_RANGE.rows, watches: NO_WATCHES },
      range: { from: commit.blocks[0]?.header.number ?? to.number, to: to.number },
    });
    // These writes don't read each other's rows.
    const [contracts] = await transaction.together(() => [
      writeContracts(transaction, chain, added.contracts, knownContracts),
      deriveAdded(transaction, chain, added.changes, states),
      recordLevels(transaction, dependencies, commit.blocks, batch.failures),
      watcher?.committed(transaction, chain, commit.blocks, dependencies.unmatched) ?? Promise.resolve(),
    ]);
    await recordDatasetFailures(transaction, chain.id, batch.failures);
    // The first followed block links the blocks below it.
    if (commit.from === null) await raiseLinked(transaction, chain, datasets);
    await writeWatched(transaction, dependencies, commit.blocks);
    return { contracts, rows: new Map([...added.decoded, ...dependent]) };
  };
  try {
    // Invariant: SYNC-WHOLE-BLOCK
    return await database.transaction(write);
  } catch (error) {
    slot.rowsDiscarded();
    throw error;
  }
}

/** @returns the projection records. @throws CheckpointMovedError; LEADERSHIP_LOST */
async function moveUnderLock(
  transaction: Transaction,
  { chain, datasets, leadership }: CommitDependencies,
  { from }: FollowedCommit,
  to: Checkpoint,
): Promise<readonly ProjectionRecord[]> {
  // Invariant: SYNC-ONE-LEADER
  const [lock, , , records] = await transaction.together(() => [
    lockChainCommits(transaction, chain),
    leadership?.confirm(transaction) ?? Promise.resolve(),
    moveCheckpoint(transaction, chain, from, to),
    readProjectionRecords(transaction, chain.id),
  ]);
  await requireCurrent(transaction, datasets);
  return lock.isFirst ? readProjectionRecords(transaction, chain.id) : records;
}

function decodeFollowed(
  { chain, datasets, rowsAtOnce }: CommitDependencies,
  blocks: readonly ProvenBlock[],
): DecodedBatch {
  const decoder = createBatchDecoder(chain, datasets, rowsAtOnce);
  for (const block of blocks) decoder.add(block.logs, [block.header], [block]);
  return decoder.batch();
}

async function writeWatched(
  transaction: Transaction,
  { chain, watcher }: CommitDependencies,
  blocks: readonly ProvenBlock[],
): Promise<void> {
  const parts = (await watcher?.rows?.select(transaction, chain, blocks)) ?? [];
  if (parts.length === 0) return;
  const added = await addRows(transaction, parts, 'may-exist');
  await deriveAdded(transaction, chain, added.changes);
}

async function rollBack(
  transaction: Transaction,
  dependencies: CommitDependencies,
  ancestor: number,
  checkpoint: number,
): Promise<void> {
  const { chain, watcher } = dependencies;
  const watched = watcher?.rows?.datasets(chain) ?? [];
  const datasets = [...dependencies.datasets, ...watched];
  const orphaned = { from: ancestor + 1, to: checkpoint };
  await watcher?.rolledBack(transaction, chain, ancestor);
  // Invariant: SYNC-ROLLBACK-WHOLE
  await deriveRemoved(transaction, chain, await removeRows(transaction, chain, datasets, orphaned));
  for (const { name } of watched) await removeSubjectRanges(transaction, chain.id, name, orphaned);
  const statements = projectionsOf(datasets).flatMap(({ state }) => state.rolledBack?.(chain.id, ancestor) ?? []);
  await runStatements(transaction, statements);
  await transaction.query(
    sql`DELETE FROM blocks WHERE chain_id = ${chain.id} AND block_number BETWEEN ${orphaned.from} AND ${orphaned.to}`,
  );
  const names = datasets.map((dataset) => dataset.name);
  await removeCoverage(transaction, chain.id, names, orphaned);
}

async function recordLevels(
  transaction: Transaction,
  { chain, datasets }: CommitDependencies,
  blocks: readonly ProvenBlock[],
  failures: readonly DecodeFailure[],
): Promise<void> {
  const runs = new Map<string, { readonly run: Coverage; readonly names: string[] }>();
  const failed = new Set(failures.map(({ dataset }) => dataset));
  const record = (part: BlockPart, some: readonly Dataset[], decoded: readonly ProvenBlock[]): void => {
    for (const run of levelsOf(part, decoded)) {
      const key = JSON.stringify(run);
      runs.set(key, { run, names: [...(runs.get(key)?.names ?? []), ...some.map(({ name }) => name)] });
    }
  };
  for (const part of partsOf(datasets, chain)) {
    const reading = datasets.filter((dataset) => deepestPart(dataset, chain) === part);
    const whole = reading.filter((dataset) => !failed.has(dataset));
    if (whole.length > 0) record(part, whole, blocks);
    for (const dataset of reading.filter((dataset) => failed.has(dataset))) {
      const gaps = new Set(failures.flatMap((failure) => (failure.dataset === dataset ? failure.block : [])));
      const decoded = blocks.filter(({ header }) => !gaps.has(header.number));
      record(part, [dataset], decoded);
    }
  }
  for (const { run, names } of runs.values()) await recordCoverage(transaction, chain.id, names, run);
}
