/**
 * Reads blocks whole, proves them, decodes them again and compares the rows with stored ones. Repairs differences,
 * reports the upstream at fault, and raises the coverage to the proof level reached.
 */
import type { Chain, ProofPolicy } from '@chainstead/chains';
import { type BlockRange, type Logger, subtractRanges } from '@chainstead/core';
import type { Transaction } from '@chainstead/db';
import type { ProofLevel, RecoverSigners } from '@chainstead/proof';
import type { UpstreamPool } from '@chainstead/rpc';
import type { CommitDependencies } from '../commit/commit-followed.ts';
import { recordLevels, requireClaim } from '../commit/commit-range.ts';
import { commitRows } from '../commit/commit-rows.ts';
import { independentOf, isDependent, type RowWatches, selectedParts, watchRows } from '../commit/dependent-rows.ts';
import { requireCurrent } from '../commit/require-current.ts';
import { requireSameBlocks } from '../commit/same-blocks.ts';
import type { ClaimOwner } from '../coverage/claims.ts';
import { type DatasetCoverage, listCoverage, missingCoverage } from '../coverage/coverage.ts';
import { dropsHistory, isDroppable, type RetentionSettings } from '../coverage/retention-settings.ts';
import { recordRewritten } from '../coverage/rewritten-ranges.ts';
import type { Dataset } from '../dataset/dataset.ts';
import { deepestPart, partsOf } from '../dataset/deepest-part.ts';
import type { BlockPart } from '../dataset/whole-block.ts';
import { deriveAdded, deriveRemoved } from '../projections/derive-changes.ts';
import { type DecodeFailure, recordDatasetFailures } from '../read/dataset-failures.ts';
import { batchOf, createBatchDecoder, type DatasetLines, type DecodedBatch } from '../read/decoded-batch.ts';
import { type DecodedRange, type RangeRead, readRangeProven, wholeDatasets } from '../read/read-range.ts';
import { writeContracts } from '../rows/known-contracts.ts';
import { addMissing, type BlockRows, type RepairedRows, removeSurplus, stageRows } from '../rows/row-changes.ts';
import { lockChainCommits, writeBlocks } from '../rows/write-batch.ts';
import type { SyncMetrics } from '../sync-metrics.ts';
import { type Repair, recordFaults, repairedBlocks } from './repaired-blocks.ts';

export interface VerifyOptions extends CommitDependencies {
  readonly pool: UpstreamPool;
  readonly policy: ProofPolicy;
  /** Recovers senders from signatures. @default in this process */
  readonly recoverSigners?: RecoverSigners | undefined;
  readonly metrics: SyncMetrics;
  readonly logger: Logger;
  readonly owner: ClaimOwner;
  /** Dropped rows are not written again. @default all blocks are retained */
  readonly retention?: RetentionSettings | undefined;
  /** Waits until the next block may be read. */
  readonly turn?: (signal: AbortSignal) => Promise<void>;
}

export interface VerifyResult {
  readonly range: BlockRange;
  /** Number of blocks per level. */
  readonly levels: Readonly<Record<string, number>>;
  /** The ranges of each level. */
  readonly proven: readonly { readonly range: BlockRange; readonly proof: ProofLevel }[];
  readonly repairs: readonly Repair[];
}

/**
 * Verifies one range of covered blocks. The caller claims it; the commit ends the claim.
 * @throws UnprovenBlockError under the policy `strict`; RangeClaimedError if the claim was lost.
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
  const repairs = await commitRows(options, datasets, placed, () => writeRepairs(options, read));
  reportRepairs(options, repairs);
  const part = deepestOf(options);
  return { range, levels: countLevels(read, part), proven: read.levels[part] ?? [], repairs };
}

/** Writes a verified range in one transaction: repairs, coverage, end of the claim, faults. */
async function writeRepairs(options: VerifyOptions, read: DecodedRange): Promise<Repair[]> {
  const { chain, database } = options;
  const { range } = read;
  return database.transaction(async (transaction) => {
    await lockChainCommits(transaction, chain);
    await requireClaim(transaction, options.owner, chain, range);
    await requireSameBlocks(transaction, chain, range, read.blocks);
    await requireCurrent(transaction, options.datasets);
    const coverage = await listCoverage(transaction, chain.id);
    const datasets = wholeDatasets(options, read).filter((dataset) => isKept(options, dataset, range, coverage));
    const watches = await watchRows(transaction, chain, datasets, range);
    const independent = independentOf(datasets);
    const batch = batchOf(read.batch, datasets);
    const contracts = await stageRows(transaction, batchOf(batch, independent).parts);
    const repairing = { range, coverage, failures: batch.failures };
    const found = [
      ...(await repairRows(transaction, chain, independent, repairing)),
      ...(await repairDependentRows(transaction, chain, datasets, { ...repairing, batch, watches })),
    ];
    await writeBlocks(transaction, batch.blockLines);
    await writeContracts(transaction, chain, contracts, options.knownContracts);
    await recordLevels(transaction, chain, datasets, read.levels);
    await recordDatasetFailures(transaction, chain.id, batch.failures);
    await recordFaults(transaction, chain.id, repairedBlocks(found));
    await recordRepaired(transaction, chain, found);
    return found;
  });
}

async function recordRepaired(transaction: Transaction, { id }: Chain, repairs: readonly Repair[]): Promise<void> {
  for (const [dataset, ofDataset] of Map.groupBy(repairs, (repair) => repair.dataset)) {
    const blocks = ofDataset.map(({ block }) => block);
    await recordRewritten(transaction, id, [dataset], { from: Math.min(...blocks), to: Math.max(...blocks) });
  }
}

/** Returns whether the dataset should have its rows of the whole range. */
function isKept(
  { retention }: VerifyOptions,
  dataset: Dataset,
  range: BlockRange,
  coverage: readonly DatasetCoverage[],
): boolean {
  if (!dropsHistory(retention) || !isDroppable(dataset)) return true;
  return missingCoverage(range, [dataset.name], coverage).length === 0;
}

interface Repairing {
  readonly range: BlockRange;
  readonly coverage: readonly DatasetCoverage[];
  /** Blocks that failed to decode keep their stored rows: nothing shows that these are wrong. */
  readonly failures: readonly DecodeFailure[];
}

/** Makes the stored rows of the range equal to the staged ones. @returns the differences */
async function repairRows(
  transaction: Transaction,
  chain: Chain,
  datasets: readonly Dataset[],
  { range, coverage, failures }: Repairing,
): Promise<Repair[]> {
  const surplus: RepairedRows[] = [];
  for (const dataset of datasets) {
    const failed = failures.filter((one) => one.dataset === dataset).map(({ block }) => ({ from: block, to: block }));
    for (const decoded of subtractRanges([range], failed))
      surplus.push(await removeSurplus(transaction, chain, dataset, decoded));
  }
  await deriveRemoved(transaction, chain, surplus);
  const missing: RepairedRows[] = [];
  for (const dataset of datasets) missing.push(await addMissing(transaction, chain, dataset, range));
  await deriveAdded(transaction, chain, missing);
  const byBlockOf = (rows: readonly RepairedRows[], dataset: Dataset): readonly BlockRows[] =>
    rows.filter((one) => one.dataset === dataset).flatMap(({ byBlock }) => byBlock);
  return datasets.flatMap((dataset) =>
    differencesByBlock(byBlockOf(surplus, dataset), byBlockOf(missing, dataset)).flatMap((difference) => {
      const covering = coverageOf(coverage, dataset, difference.block);
      // If the dataset was not covered (it was added later), rows are new, not repaired.
      return covering === null ? [] : [{ ...difference, dataset: dataset.name, upstream: covering.upstream }];
    }),
  );
}

/** Repairs the rows that depend on others, dataset by dataset: those of a dataset may depend on repaired ones. */
async function repairDependentRows(
  transaction: Transaction,
  chain: Chain,
  datasets: readonly Dataset[],
  { batch, watches, ...repairing }: Repairing & { readonly batch: DecodedBatch; readonly watches: RowWatches },
): Promise<readonly Repair[]> {
  const found: Repair[] = [];
  for (const dataset of datasets) {
    if (isDependent(dataset)) {
      const parts: DatasetLines[] = [];
      const selecting = { chain, datasets, range: repairing.range, batch };
      for await (const part of selectedParts(transaction, selecting, dataset)) parts.push(part);
      await stageRows(transaction, parts);
      // Repairs of other datasets may have removed coverage: rows that are new for that reason are no fault of an upstream.
      const coverage = await listCoverage(transaction, chain.id, repairing.range);
      found.push(...(await repairRows(transaction, chain, [dataset], { ...repairing, coverage })));
    }
    await watches.get(dataset)?.();
  }
  return found;
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

/** Returns the part of the first dataset: datasets verified together read the same parts, or all read logs. */
function deepestOf({ chain, datasets: [first] }: VerifyOptions): BlockPart {
  return first === undefined ? 'logs' : deepestPart(first, chain);
}

function countLevels(read: RangeRead, part: BlockPart): Record<string, number> {
  const levels: Record<string, number> = {};
  for (const level of read.levels[part] ?? [])
    levels[level.proof] = (levels[level.proof] ?? 0) + level.range.to - level.range.from + 1;
  return levels;
}
