/**
 * The prover: reads blocks whole, proves them, decodes them again and compares with what is stored. What differs is
 * repaired and the upstream that gave it is named; the coverage is raised to the level that was reached.
 */
import type { Chain, ProofPolicy } from '@chainstead/chains';
import type { BlockRange, Logger } from '@chainstead/core';
import type { Transaction } from '@chainstead/db';
import type { RecoverSigners } from '@chainstead/proof';
import type { UpstreamPool } from '@chainstead/rpc';
import type { ClaimOwner } from './claims.ts';
import type { CommitDependencies } from './commit-followed.ts';
import { recordLevels, requireClaim } from './commit-range.ts';
import { retryCommit } from './commit-retry.ts';
import { type DatasetCoverage, listCoverage, missingCoverage } from './coverage.ts';
import type { Dataset } from './dataset.ts';
import { batchOf, createBatchDecoder } from './decoded-batch.ts';
import { deriveAdded, deriveRemoved } from './derived/derive-changes.ts';
import { dropsHistory, isDroppable, type KeepSettings } from './keep-settings.ts';
import { writeContracts } from './known-contracts.ts';
import { withPartitions } from './partitions/with-partitions.ts';
import { type DecodedRange, type RangeRead, readRangeProven, wholeDatasets } from './read-range.ts';
import { type Repair, recordFaults, repairedBlocks } from './repaired-blocks.ts';
import { addMissing, type BlockRows, type RepairedRows, removeSurplus, stageRows } from './row-changes.ts';
import { requireSameBlocks } from './same-blocks.ts';
import type { SyncMetrics } from './sync-metrics.ts';
import { type BlockPart, deepestPart, partsOf } from './whole-block.ts';
import { lockChainCommits, writeBlocks } from './write-batch.ts';

export interface VerifyOptions extends CommitDependencies {
  readonly pool: UpstreamPool;
  readonly policy: ProofPolicy;
  /** Who recovers senders from signatures. @default this process */
  readonly recoverSigners?: RecoverSigners | undefined;
  readonly metrics: SyncMetrics;
  readonly logger: Logger;
  readonly owner: ClaimOwner;
  /** What was dropped stays so. @default all is kept */
  readonly keep?: KeepSettings | undefined;
  /** Waits until the next block may be read. */
  readonly turn?: (signal: AbortSignal) => Promise<void>;
}

export interface VerifyResult {
  readonly range: BlockRange;
  /** Blocks by the level that they reached. */
  readonly levels: Readonly<Record<string, number>>;
  readonly repairs: readonly Repair[];
}

/**
 * Verifies one claimed range of covered blocks (the caller claims it; the commit ends the claim).
 * @throws UnprovenBlockError under the policy `strict`; RangeClaimedError when the claim was lost.
 */
export async function verifyRange(
  options: VerifyOptions,
  range: BlockRange,
  readsInFlight: number,
  signal: AbortSignal,
): Promise<VerifyResult> {
  const { chain, datasets, rowsAtOnce } = options;
  const decoder = createBatchDecoder(chain, datasets, rowsAtOnce);
  const reading = { ...options, parts: partsOf(datasets, chain), depth: readsInFlight, signal };
  const read = await readRangeProven(reading, range, decoder);
  const placed = { blocks: [range], batch: read.batch };
  const repairs = await withPartitions(options, datasets, placed, () => retryCommit(() => writeRepairs(options, read)));
  reportRepairs(options, repairs);
  return { range, levels: countLevels(read, deepestOf(options)), repairs };
}

/** The transaction of a verified range: repairs, coverage, the end of the claim, faults. */
async function writeRepairs(options: VerifyOptions, read: DecodedRange): Promise<Repair[]> {
  const { chain, database } = options;
  const { range } = read;
  return database.transaction(async (transaction) => {
    await lockChainCommits(transaction, chain);
    await requireClaim(transaction, options.owner, chain, range);
    await requireSameBlocks(transaction, chain, range, read.blocks);
    const coverage = await listCoverage(transaction, chain.id);
    const datasets = wholeDatasets(options, read).filter((dataset) => isKept(options, dataset, range, coverage));
    const batch = batchOf(read.batch, datasets);
    const contracts = await stageRows(transaction, batch.parts);
    const found = await repairRows(transaction, chain, datasets, range, coverage);
    await writeBlocks(transaction, batch.blockLines);
    await writeContracts(transaction, chain, contracts, options.knownContracts);
    await recordLevels(transaction, chain, datasets, read.levels);
    await recordFaults(transaction, chain.id, repairedBlocks(found));
    return found;
  });
}

/** Whether the dataset has its rows of the whole range, or lacks some that it is to have. */
function isKept(
  { keep }: VerifyOptions,
  dataset: Dataset,
  range: BlockRange,
  coverage: readonly DatasetCoverage[],
): boolean {
  if (!dropsHistory(keep) || !isDroppable(dataset)) return true;
  return missingCoverage(range, [dataset.name], coverage).length === 0;
}

/** Makes the stored rows of the range equal to those in staging. @returns what differed. */
async function repairRows(
  transaction: Transaction,
  chain: Chain,
  datasets: readonly Dataset[],
  range: BlockRange,
  coverage: readonly DatasetCoverage[],
): Promise<Repair[]> {
  const surplus: RepairedRows[] = [];
  for (const dataset of datasets) surplus.push(await removeSurplus(transaction, chain, dataset, range));
  await deriveRemoved(transaction, chain, surplus);
  const missing: RepairedRows[] = [];
  for (const dataset of datasets) missing.push(await addMissing(transaction, chain, dataset, range));
  await deriveAdded(transaction, chain, missing);
  return datasets.flatMap((dataset, index) =>
    differencesByBlock(surplus[index]?.byBlock ?? [], missing[index]?.byBlock ?? []).flatMap((difference) => {
      const covering = coverageOf(coverage, dataset, difference.block);
      // Where the dataset was not covered (it was added since), rows are not repaired but new.
      return covering === null ? [] : [{ ...difference, dataset: dataset.name, upstream: covering.upstream }];
    }),
  );
}

function differencesByBlock(
  surplus: readonly BlockRows[],
  missing: readonly BlockRows[],
): { block: number; missing: number; surplus: number }[] {
  const byBlock = new Map<number, { block: number; missing: number; surplus: number }>();
  const entry = (block: number) => {
    const found = byBlock.get(block) ?? { block, missing: 0, surplus: 0 };
    byBlock.set(block, found);
    return found;
  };
  for (const row of surplus) entry(row.block_number).surplus = row.rows;
  for (const row of missing) entry(row.block_number).missing = row.rows;
  return [...byBlock.values()].toSorted((a, b) => a.block - b.block);
}

function coverageOf(coverage: readonly DatasetCoverage[], dataset: Dataset, block: number): DatasetCoverage | null {
  const covering = coverage.find(
    (one) => one.dataset === dataset.name && one.range.from <= block && block <= one.range.to,
  );
  return covering ?? null;
}

function reportRepairs({ chain, pool, metrics }: VerifyOptions, repairs: readonly Repair[]): void {
  for (const { block, upstream, kind, missing, surplus } of repairedBlocks(repairs)) {
    metrics.proverRepairs.inc({ chain: chain.key, upstream: upstream ?? 'unknown' });
    if (upstream !== null) pool.reportFault(upstream, kind, { block, missing, surplus });
  }
}

/** The part that the first of them rests on: those that are verified together are read alike, or all from logs. */
function deepestOf({ chain, datasets: [first] }: VerifyOptions): BlockPart {
  return first === undefined ? 'logs' : deepestPart(first, chain);
}

function countLevels(read: RangeRead, part: BlockPart): Record<string, number> {
  const levels: Record<string, number> = {};
  for (const level of read.levels[part] ?? [])
    levels[level.proof] = (levels[level.proof] ?? 0) + level.range.to - level.range.from + 1;
  return levels;
}
