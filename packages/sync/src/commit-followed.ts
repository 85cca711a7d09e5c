/**
 * One transaction of the follower: roll back what left the canonical chain, write the new blocks, record their coverage
 * and move the checkpoint. Run twice, the second time fails on the checkpoint and writes nothing.
 */
import type { Chain } from '@chainstead/chains';
import type { Database, Leadership, Transaction } from '@chainstead/db';
import type { BlockWatcher } from './block-watcher.ts';
import { type Checkpoint, moveCheckpoint } from './checkpoint.ts';
import { AssumedWronglyError, isUniqueViolation, retryCommit } from './commit-retry.ts';
import { ALONE, type CommitTurn, waitWithRows } from './commit-turn.ts';
import { type Coverage, recordCoverage, removeCoverage } from './coverage.ts';
import type { Dataset } from './dataset.ts';
import { type BlockFacts, createBatchDecoder, type DecodedBatch } from './decoded-batch.ts';
import { deriveAdded, deriveRemoved } from './derived/derive-changes.ts';
import {
  type DerivedRecord,
  isFollowed,
  readDerivedRecords,
  requireAsExpected,
  statesOf,
} from './derived/derived-record.ts';
import { SenderContradictedError } from './errors.ts';
import { removeSubjectRanges } from './histories/subject-ranges.ts';
import { type KnownContracts, type SeenContract, writeContracts } from './known-contracts.ts';
import { levelsOf } from './part-levels.ts';
import { withPartitions } from './partitions/with-partitions.ts';
import type { ProvenBlock } from './proven-block.ts';
import { type AddedRows, addRows, removeRows } from './row-changes.ts';
import type { SyncMetrics } from './sync-metrics.ts';
import { deepestPart, partsOf } from './whole-block.ts';
import { lockChainCommits, writeRows } from './write-batch.ts';

export interface FollowedCommit {
  /** Where the checkpoint is when it is this commit's turn. */
  readonly from: Checkpoint | null;
  /** The last block that stays; null when nothing is rolled back. */
  readonly ancestor: number | null;
  /** Linked blocks above the checkpoint or the ancestor, ascending; never empty. */
  readonly blocks: readonly ProvenBlock[];
  /** What the blocks cause, where they were decoded before. */
  readonly batch?: DecodedBatch;
  /** Among others of the chain that are under way. @default none is */
  readonly turn?: CommitTurn;
}

export interface CommitDependencies {
  readonly database: Database;
  readonly chain: Chain;
  readonly datasets: readonly Dataset[];
  readonly knownContracts: KnownContracts;
  /** Of the chain: nothing is followed any more once another process has it. */
  readonly leadership?: Pick<Leadership, 'confirm'>;
  /** Sees what is followed; never what is backfilled. */
  readonly watcher?: BlockWatcher;
  /** How many rows of a dataset are decoded and held at a time. @default ROWS_AT_ONCE */
  readonly rowsAtOnce?: number;
  /** Where rows of followed blocks are counted. @default nowhere */
  readonly metrics?: Pick<SyncMetrics, 'rows'>;
}

const EMPTY_RANGE = { blocks: 'empty-range', rows: 'empty-range' } as const;

/** @returns the new checkpoint. @throws CheckpointMovedError, WatchNeedsChangedError; LEADERSHIP_LOST */
export async function commitFollowed(dependencies: CommitDependencies, commit: FollowedCommit): Promise<Checkpoint> {
  const { chain, datasets, knownContracts } = dependencies;
  const last = commit.blocks.at(-1);
  if (last === undefined) throw new RangeError('A commit needs at least one block');
  const to = { number: last.header.number, hash: last.header.hash };
  const facts: BlockFacts[] = commit.blocks.map(({ header }) => header);
  const batch = commit.batch ?? decodeFollowed(dependencies, commit.blocks);
  const blocks = [{ from: facts[0]?.number ?? to.number, to: to.number }];
  const written = [...datasets, ...watchedDatasets(dependencies)];
  const { contracts, rows } = await withPartitions(dependencies, written, { blocks, batch, kept: datasets }, () =>
    retryCommit((hasLost) =>
      writeFollowed(dependencies, commit, { to, batch, lockFirst: hasLost || commit.ancestor !== null }),
    ),
  );
  knownContracts.add(contracts);
  for (const [dataset, count] of rows) dependencies.metrics?.rows.inc({ chain: chain.key, dataset }, count);
  return to;
}

interface FollowedWriting {
  readonly to: Checkpoint;
  readonly batch: DecodedBatch;
  /** Takes the commit lock before rows are written, not after. */
  readonly lockFirst: boolean;
}

/** Nobody else writes what is above the checkpoint, so rows are written before it is this commit's turn: only the rest of it is done one after the other. */
async function writeFollowed(
  dependencies: CommitDependencies,
  commit: FollowedCommit,
  { to, batch, lockFirst }: FollowedWriting,
): Promise<{ readonly contracts: readonly SeenContract[]; readonly rows: ReadonlyMap<string, number> }> {
  const { database, chain, datasets, knownContracts, watcher } = dependencies;
  const { turn = ALONE } = commit;
  // Without a connection: the commit before may need one.
  if (lockFirst) await turn.reached();
  const write = async (transaction: Transaction) => {
    const known = lockFirst
      ? await moveUnderLock(transaction, dependencies, commit, to)
      : await readDerivedRecords(transaction, chain.id);
    if (commit.ancestor !== null && commit.from !== null)
      await rollBack(transaction, dependencies, commit.ancestor, commit.from.number);
    const expected = commit.ancestor === null ? known : await readDerivedRecords(transaction, chain.id);
    const added = await writeAbove(transaction, batch, expected, lockFirst);
    turn.written();
    await requireSenders(chain, commit.blocks);
    let states = expected;
    if (!lockFirst) {
      await waitWithRows(turn);
      states = await moveUnderLock(transaction, dependencies, commit, to);
      requireAsExpected(datasets, expected, states);
    }
    // None of them reads what another writes.
    const [contracts] = await transaction.together(() => [
      writeContracts(transaction, chain, added.contracts, knownContracts),
      deriveAdded(transaction, chain, added.changes, states),
      recordLevels(transaction, dependencies, commit.blocks),
      watcher?.committed(transaction, chain, commit.blocks) ?? Promise.resolve(),
    ]);
    await writeWatched(transaction, dependencies, commit.blocks);
    return { contracts, rows: added.decoded };
  };
  try {
    return await database.transaction(write);
  } catch (error) {
    turn.unwritten();
    throw error;
  }
}

/** Senders are recovered while rows are written. @throws SenderContradictedError; what recovering them failed with */
async function requireSenders({ key }: Chain, blocks: readonly ProvenBlock[]): Promise<void> {
  for (const { header, upstream, sendersHold } of blocks)
    if ((await sendersHold) === false)
      throw new SenderContradictedError({ chain: key, block: header.number, upstream });
}

/** @returns what is known of derived states under the lock. @throws CheckpointMovedError; LEADERSHIP_LOST */
async function moveUnderLock(
  transaction: Transaction,
  { chain, leadership }: CommitDependencies,
  { from }: FollowedCommit,
  to: Checkpoint,
): Promise<readonly DerivedRecord[]> {
  const [lock, , , records] = await transaction.together(() => [
    lockChainCommits(transaction, chain),
    leadership?.confirm(transaction) ?? Promise.resolve(),
    moveCheckpoint(transaction, chain, from, to),
    readDerivedRecords(transaction, chain.id),
  ]);
  return lock.isFirst ? readDerivedRecords(transaction, chain.id) : records;
}

/** @throws AssumedWronglyError where somebody has written rows of these blocks: under the lock, the checkpoint tells who */
async function writeAbove(
  transaction: Transaction,
  batch: DecodedBatch,
  expected: readonly DerivedRecord[],
  isLocked: boolean,
): Promise<AddedRows> {
  try {
    return await writeRows(transaction, batch, EMPTY_RANGE, { isFollowed: (dataset) => isFollowed(dataset, expected) });
  } catch (error) {
    if (!isLocked && isUniqueViolation(error)) throw new AssumedWronglyError('nobody had rows above the checkpoint');
    throw error;
  }
}

function decodeFollowed(
  { chain, datasets, rowsAtOnce }: CommitDependencies,
  blocks: readonly ProvenBlock[],
): DecodedBatch {
  const decoder = createBatchDecoder(chain, datasets, rowsAtOnce);
  for (const block of blocks) decoder.add(block.logs, [block.header], [block]);
  return decoder.batch();
}

/** What the watcher has written of datasets that are not kept whole. Some of it may be there: of a chain whose datasets once were. */
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

function watchedDatasets({ chain, watcher }: CommitDependencies): readonly Dataset[] {
  return watcher?.rows?.datasets(chain) ?? [];
}

async function rollBack(
  transaction: Transaction,
  dependencies: CommitDependencies,
  ancestor: number,
  checkpoint: number,
): Promise<void> {
  const { chain, watcher } = dependencies;
  const watched = watchedDatasets(dependencies);
  const datasets = [...dependencies.datasets, ...watched];
  const orphaned = { from: ancestor + 1, to: checkpoint };
  await watcher?.rolledBack(transaction, chain, ancestor);
  await deriveRemoved(transaction, chain, await removeRows(transaction, chain, datasets, orphaned));
  for (const { name } of watched) await removeSubjectRanges(transaction, chain.id, name, orphaned);
  for (const statement of statesOf(datasets).flatMap(({ state }) => state.rolledBack?.(chain.id, ancestor) ?? []))
    await transaction.query(statement);
  await transaction.query('DELETE FROM blocks WHERE chain_id = $1 AND block_number BETWEEN $2 AND $3', [
    chain.id,
    orphaned.from,
    orphaned.to,
  ]);
  await removeCoverage(
    transaction,
    chain.id,
    datasets.map((dataset) => dataset.name),
    orphaned,
  );
}

/** One coverage record for each run of blocks of the same level; none for blocks of which a dataset lacks what it reads. */
async function recordLevels(
  transaction: Transaction,
  { chain, datasets }: CommitDependencies,
  blocks: readonly ProvenBlock[],
): Promise<void> {
  const runs = new Map<string, { readonly run: Coverage; readonly names: string[] }>();
  for (const part of partsOf(datasets, chain)) {
    const names = datasets.filter((one) => deepestPart(one, chain) === part).map(({ name }) => name);
    // Parts that are proven alike are recorded together.
    for (const run of levelsOf(part, blocks)) {
      const key = JSON.stringify(run);
      runs.set(key, { run, names: [...(runs.get(key)?.names ?? []), ...names] });
    }
  }
  for (const { run, names } of runs.values()) await recordCoverage(transaction, chain.id, names, run);
}
