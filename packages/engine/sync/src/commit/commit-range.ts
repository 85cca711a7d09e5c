/** Rows are copied straight in, or through staging if some exist (from on-demand backfills). */
import type { Chain } from '@chainstead/chains';
import type { BlockRange } from '@chainstead/core';
import { isSpread, requireSettled, sql, type Transaction } from '@chainstead/db';
import { type ClaimOwner, consumeClaim } from '../coverage/claims.ts';
import { type Coverage, recordCoverage, recordRewritten } from '../coverage/coverage.ts';
import { IS_FOLLOWED, IS_LINKED, raiseLinked } from '../coverage/linked-blocks.ts';
import { datasetsWithHistories } from '../coverage/subject.ts';
import type { Dataset } from '../dataset/dataset.ts';
import { deepestPart, partsOf } from '../dataset/whole-block.ts';
import { ReorgedWhileReadingError } from '../errors.ts';
import { deriveAdded, deriveRemoved } from '../projections/derive-changes.ts';
import { isFollowed, readProjectionRecords, requireAsExpected } from '../projections/projection-record.ts';
import { recordDatasetFailures } from '../read/dataset-failures.ts';
import { type BlockFacts, batchOf, type DecodedBatch } from '../read/decoded-batch.ts';
import type { RangeLevels } from '../read/part-levels.ts';
import type { RangeRead } from '../read/read-range.ts';
import { lockChainCommits } from '../rows/commit-retry.ts';
import { removeRows, type WriteMode } from '../rows/row-changes.ts';
import { hasBlocks, writeBlocks, writeRows } from '../rows/write-batch.ts';
import type { CommitDependencies } from './commit-followed.ts';
import { independentOf, watchRows, writeDependentRows } from './commit-rows.ts';
import { commitSettled } from './commit-settled.ts';

export interface RangeCommit {
  readonly read: RangeRead;
  readonly batch: DecodedBatch;
  readonly datasets: readonly Dataset[];
  readonly owner: ClaimOwner;
  readonly kind: 'add' | 'replace';
  /** A reorg may still replace the blocks: their hashes are checked. @default false */
  readonly isUnsettled?: boolean;
}

/** @returns rows per dataset. @throws RangeClaimedError */
export function commitRange(
  dependencies: CommitDependencies,
  { read, batch, datasets, owner, kind, isUnsettled = false }: RangeCommit,
): Promise<ReadonlyMap<string, number>> {
  const { chain } = dependencies;
  const { range } = read;
  return commitSettled(dependencies, {
    datasets,
    placed: { blocks: [range], batch },
    // A rollback takes it first, too: it comes before, or removes these rows.
    locksFirst: isUnsettled,
    async begin(transaction) {
      await consumeClaim(transaction, owner, chain, range);
      if (isUnsettled) await requireIndexedBlocks(transaction, chain, read.blocks);
      else await requireSameBlocks(transaction, chain, read.blocks, read.isLinked === true);
    },
    async write(transaction, { rowsMayExist, lock }) {
      const watches = await watchRows(transaction, chain, datasets, range);
      // A history stores the blocks of its rows. One that does so after this look makes the copy of blocks fail.
      const isStored = rowsMayExist || (await hasBlocks(transaction, chain, range));
      // From here on, histories with rows of these blocks wait for this commit: those before it are seen.
      if (isStored) await writeBlocks(transaction, batch.blockLines);
      if (kind === 'replace') {
        const names = datasets.map(({ name }) => name);
        await removeRange(transaction, chain, datasets, range);
        await recordRewritten(transaction, chain.id, names, range);
      } else if (isStored) await removeReplaced(transaction, chain, datasets, read);
      const expected = await readProjectionRecords(transaction, chain.id);
      const mode: WriteMode = rowsMayExist ? 'may-exist' : 'empty-range';
      const added = await writeRows(
        transaction,
        batchOf(batch, independentOf(datasets)),
        { blocks: isStored ? 'written' : 'empty-range', rows: mode },
        { isFollowed: (dataset) => isFollowed(dataset, expected) },
      );
      await lock();
      const records = await readProjectionRecords(transaction, chain.id);
      requireAsExpected(datasets, expected, records);
      const depending = { chain, datasets, batch, mode, watches, range };
      const dependent = await writeDependentRows(transaction, depending);
      await deriveAdded(transaction, chain, added.changes, records);
      await recordLevels(transaction, chain, datasets, read.levels);
      await recordDatasetFailures(transaction, chain.id, batch.failures);
      if (read.isLinked !== undefined) await raiseLinked(transaction, chain, dependencies.datasets);
      return { contracts: added.contracts, result: new Map([...added.decoded, ...dependent]) };
    },
  });
}

export async function recordLevels(
  transaction: Transaction,
  chain: Chain,
  datasets: readonly Dataset[],
  levels: RangeLevels,
): Promise<void> {
  for (const part of partsOf(datasets, chain)) {
    const names = datasets.filter((dataset) => deepestPart(dataset, chain) === part).map(({ name }) => name);
    for (const level of joinSources(levels[part] ?? []))
      await recordCoverage(transaction, chain.id, names, level);
  }
}

/** Also removes derived values, which needs the commit lock. */
async function removeRange(
  transaction: Transaction,
  chain: Chain,
  datasets: readonly Dataset[],
  range: BlockRange,
): Promise<void> {
  // Rows in unresolved shard transactions are invisible: they would stay.
  if (await isSpread(transaction)) await requireSettled(transaction);
  // Before the rows: a history of one subject may commit rows of these blocks until then.
  await lockChainCommits(transaction, chain);
  const removed = await removeRows(transaction, chain, datasets, range);
  await deriveRemoved(transaction, chain, removed);
}

/** Nodes may have lied to a history: its rows are replaced where all rows are proven, not in blocks left out. */
async function removeReplaced(
  transaction: Transaction,
  chain: Chain,
  datasets: readonly Dataset[],
  { range, levels }: Pick<RangeRead, 'range' | 'levels'>,
): Promise<void> {
  for (const dataset of await datasetsWithHistories(transaction, chain, datasets, range))
    for (const level of levels[deepestPart(dataset, chain)] ?? [])
      if (level.proof === 'receipts') await removeRange(transaction, chain, [dataset], level.range);
}

function joinSources(levels: readonly Coverage[]): Coverage[] {
  const joined: Coverage[] = [];
  for (const level of levels) {
    const last = joined.at(-1);
    if (
      last !== undefined &&
      last.range.to + 1 === level.range.from &&
      last.proof === level.proof &&
      last.upstream === level.upstream &&
      last.reason === level.reason
    )
      joined[joined.length - 1] = { ...last, range: { from: last.range.from, to: level.range.to } };
    else joined.push(level);
  }
  return joined;
}

/**
 * Only the follower handles another branch.
 * @param isLinked the blocks are tied to the chain, so they may replace others below the first followed one
 * @throws ReorgedWhileReadingError
 */
export async function requireSameBlocks(
  transaction: Transaction,
  chain: Chain,
  blocks: ReadonlyMap<number, Pick<BlockFacts, 'number' | 'hash'>>,
  isLinked: boolean,
): Promise<void> {
  const read = [...blocks.values()];
  if (read.length === 0) return;
  // Invariant: SYNC-SAME-HASH
  const [other] = await transaction.query<{ block: number }>(
    sql`SELECT b.block_number AS block FROM blocks b
       JOIN unnest(${read.map(({ number }) => number)}::bigint[], ${read.map(({ hash }) => hash.slice(2))}::text[]) AS read(number, hash) ON read.number = b.block_number
      WHERE b.chain_id = ${chain.id} AND b.block_hash <> decode(read.hash, 'hex') AND ${isLinked ? IS_FOLLOWED : IS_LINKED} LIMIT 1`,
  );
  if (other === undefined) return;
  throw new ReorgedWhileReadingError({
    chain: chain.key,
    what: `block ${other.block} is indexed with another hash`,
  });
}

/** Needs the commit lock, as a rollback. @throws ReorgedWhileReadingError */
async function requireIndexedBlocks(
  transaction: Transaction,
  chain: Chain,
  blocks: ReadonlyMap<number, Pick<BlockFacts, 'number' | 'hash'>>,
): Promise<void> {
  const read = [...blocks.values()];
  const [indexed] = await transaction.query<{ count: number }>(
    sql`SELECT count(*)::int AS count FROM blocks b
       JOIN unnest(${read.map(({ number }) => number)}::bigint[], ${read.map(({ hash }) => hash.slice(2))}::text[]) AS read(number, hash) ON read.number = b.block_number
      WHERE b.chain_id = ${chain.id} AND b.block_hash = decode(read.hash, 'hex')`,
  );
  // Invariant: SYNC-SAME-HASH
  if (indexed?.count === read.length) return;
  throw new ReorgedWhileReadingError({
    chain: chain.key,
    what: `blocks of ${read[0]?.number} to ${read.at(-1)?.number} are not indexed, or with another hash`,
  });
}
