/**
 * One transaction of the backfill: rows, coverage and the end of the claim together. A range that is not covered holds no
 * rows, so they are copied straight in; where rows turn out to be there (an on-demand history's), through staging.
 */
import type { Chain } from '@chainstead/chains';
import type { BlockRange } from '@chainstead/core';
import { isSpread, requireSettled, type Transaction } from '@chainstead/db';
import { type ClaimOwner, consumeClaim } from './claims.ts';
import type { CommitDependencies } from './commit-followed.ts';
import { isUniqueViolation, retryCommit } from './commit-retry.ts';
import { type Coverage, recordCoverage } from './coverage.ts';
import type { Dataset } from './dataset.ts';
import type { DecodedBatch } from './decoded-batch.ts';
import { deriveAdded, deriveRemoved } from './derived/derive-changes.ts';
import { isFollowed, readDerivedRecords, requireAsExpected } from './derived/derived-record.ts';
import { RangeClaimedError } from './errors.ts';
import { writeContracts } from './known-contracts.ts';
import type { RangeLevels } from './part-levels.ts';
import { withPartitions } from './partitions/with-partitions.ts';
import type { RangeRead } from './read-range.ts';
import { removeRows, type WriteMode } from './row-changes.ts';
import { requireSameBlocks } from './same-blocks.ts';
import { deepestPart, partsOf } from './whole-block.ts';
import { lockChainCommits, writeRows } from './write-batch.ts';

export interface RangeCommit {
  readonly read: RangeRead;
  /** What its logs cause. */
  readonly batch: DecodedBatch;
  /** The datasets that this range is read for. */
  readonly datasets: readonly Dataset[];
  readonly owner: ClaimOwner;
  /** `add` what is not there; `replace` all rows of the datasets in the range (reindex). */
  readonly kind: 'add' | 'replace';
}

/** @returns rows written by dataset. @throws RangeClaimedError when the claim was lost meanwhile. */
export async function commitRange(
  dependencies: CommitDependencies,
  commit: RangeCommit,
): Promise<ReadonlyMap<string, number>> {
  const write = (mode: WriteMode): Promise<ReadonlyMap<string, number>> =>
    withPartitions(dependencies, commit.datasets, { blocks: [commit.read.range], batch: commit.batch }, () =>
      retryCommit((hasLost) => writeRange(dependencies, commit, { mode, lockFirst: hasLost })),
    );
  try {
    return await write('empty-range');
  } catch (error) {
    if (!isUniqueViolation(error)) throw error;
    return write('may-exist');
  }
}

async function writeRange(
  { database, chain, knownContracts }: CommitDependencies,
  { read, batch, datasets, owner, kind }: RangeCommit,
  { mode, lockFirst }: { readonly mode: WriteMode; readonly lockFirst: boolean },
): Promise<ReadonlyMap<string, number>> {
  const { contracts, decoded } = await database.transaction(async (transaction) => {
    if (lockFirst) await lockChainCommits(transaction, chain);
    await requireClaim(transaction, owner, chain, read.range);
    await requireSameBlocks(transaction, chain, read.range, read.blocks);
    if (kind === 'replace') {
      // Rows that a crash has hidden for now would not be removed.
      if (await isSpread(transaction)) await requireSettled(transaction);
      await removeRange(transaction, chain, datasets, read.range);
    }
    const expected = await readDerivedRecords(transaction, chain.id);
    const added = await writeRows(
      transaction,
      batch,
      { blocks: 'may-exist', rows: mode },
      { isFollowed: (dataset) => isFollowed(dataset, expected) },
    );
    // Only from here on one at a time: claims keep the rows of ranges apart; coverage, contracts and derived state are shared.
    await lockChainCommits(transaction, chain);
    const records = lockFirst ? expected : await readDerivedRecords(transaction, chain.id);
    requireAsExpected(datasets, expected, records);
    await deriveAdded(transaction, chain, added.changes, records);
    const written = await writeContracts(transaction, chain, added.contracts, knownContracts);
    await recordLevels(transaction, chain, datasets, read.levels);
    return { contracts: written, decoded: added.decoded };
  });
  knownContracts.add(contracts);
  return decoded;
}

/** Records each dataset as covered where what it reads was there. */
export async function recordLevels(
  transaction: Transaction,
  chain: Chain,
  datasets: readonly Dataset[],
  levels: RangeLevels,
): Promise<void> {
  for (const part of partsOf(datasets, chain)) {
    const names = datasets.filter((one) => deepestPart(one, chain) === part).map(({ name }) => name);
    for (const level of joinSources(levels[part] ?? [])) await recordCoverage(transaction, chain.id, names, level);
  }
}

/** What was derived from the rows goes with them, before others take their place; that is done under the commit lock. */
async function removeRange(
  transaction: Transaction,
  chain: Chain,
  datasets: readonly Dataset[],
  range: BlockRange,
): Promise<void> {
  const removed = await removeRows(transaction, chain, datasets, range);
  await lockChainCommits(transaction, chain);
  await deriveRemoved(transaction, chain, removed);
}

/** @throws RangeClaimedError when somebody else took the range over. */
export async function requireClaim(
  transaction: Transaction,
  owner: ClaimOwner,
  chain: Chain,
  range: BlockRange,
): Promise<void> {
  owner.lost.throwIfAborted();
  if (!(await consumeClaim(transaction, owner.key, chain.id, range)))
    throw new RangeClaimedError({ chain: chain.key, range, purpose: 'process' });
}

/** Neighbouring parts that the same upstream gave become one record. */
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
