/** Repairs differences, reports the upstream at fault, and raises the proof level. */
import type { Chain } from '@chainstead/chains';
import { type BlockRange, type ChainId, subtractRanges } from '@chainstead/core';
import { sql, type Transaction } from '@chainstead/db';
import type { ProofLevel } from '@chainstead/proof';
import type { FaultKind } from '@chainstead/rpc';
import type { CommitDependencies } from '../commit/commit-followed.ts';
import { recordLevels, requireSameBlocks } from '../commit/commit-range.ts';
import { independentOf, isDependent, type RowWatches, selectedParts, watchRows } from '../commit/commit-rows.ts';
import { commitSettled, type SettledRows } from '../commit/commit-settled.ts';
import { type ClaimOwner, consumeClaim } from '../coverage/claims.ts';
import { type DatasetCoverage, listCoverage, missingCoverage, recordRewritten } from '../coverage/coverage.ts';
import { raiseLinked } from '../coverage/linked-blocks.ts';
import { dropsHistory, isDroppable, type RetentionSettings } from '../coverage/retained-from.ts';
import type { Dataset } from '../dataset/dataset.ts';
import { deepestPart } from '../dataset/whole-block.ts';
import { deriveAdded, deriveRemoved } from '../projections/derive-changes.ts';
import { type DecodeFailure, recordDatasetFailures } from '../read/dataset-failures.ts';
import { batchOf, type DatasetLines, type DecodedBatch } from '../read/decoded-batch.ts';
import { type DecodedRange, wholeDatasets } from '../read/read-range.ts';
import {
  addMissing,
  type BlockRowCount,
  type RepairedRows,
  removeSurplus,
  stageRows,
} from '../rows/row-changes.ts';
import { writeBlocks } from '../rows/write-batch.ts';
import type { SyncMetrics } from '../sync-metrics.ts';
import { type PartsOptions, readProvenParts } from './read-proven-parts.ts';

export interface VerifyOptions extends CommitDependencies, PartsOptions {
  readonly metrics: SyncMetrics;
  readonly owner: ClaimOwner;
  /** @default all blocks are retained */
  readonly retention?: RetentionSettings | undefined;
}

/** A part of the range, committed. */
export interface VerifiedPart {
  readonly range: BlockRange;
  readonly proven: readonly { readonly range: BlockRange; readonly proof: ProofLevel }[];
  readonly repairs: readonly Repair[];
}

/**
 * Parts bound memory. Each ends the caller's claim of its blocks. Nothing is changed in blocks that nothing links to the
 * followed chain: their level is `record`.
 *
 * @throws UnprovenBlockError, OtherChainError, RangeClaimedError
 */
export async function* verifyRange(
  options: VerifyOptions,
  range: BlockRange,
  readsInFlight: number,
  signal: AbortSignal,
): AsyncGenerator<VerifiedPart> {
  yield* verifyParts(options, readProvenParts(options, range, readsInFlight, signal));
}

/** Blocks that are read already. Releases each part. */
export async function* verifyParts(
  options: VerifyOptions,
  reads: AsyncIterable<DecodedRange> | Iterable<DecodedRange>,
): AsyncGenerator<VerifiedPart> {
  for await (const read of reads) {
    const commit = commitPart(options, read).catch((error: unknown) => {
      if (error instanceof UnlinkedRepair) return endClaim(options, read);
      throw error;
    });
    const repairs = await commit.finally(() => read.batch.release());
    // Datasets verified together read the same parts, or all read logs.
    const [first] = options.datasets;
    const proven = read.levels[first === undefined ? 'logs' : deepestPart(first, options.chain)] ?? [];
    yield { range: read.range, proven, repairs };
  }
}

/** Rolls a part back: blocks that nothing links to the followed chain change no row. */
class UnlinkedRepair extends Error {}

async function endClaim(
  { database, owner, chain }: VerifyOptions,
  { range }: DecodedRange,
): Promise<readonly Repair[]> {
  await database.transaction((transaction) => consumeClaim(transaction, owner, chain, range));
  return [];
}

async function commitPart(options: VerifyOptions, read: DecodedRange): Promise<readonly Repair[]> {
  const { chain, datasets, metrics, owner, pool, sources } = options;
  const { range } = read;
  const repairs = await commitSettled(options, {
    ...{ datasets, placed: { blocks: [range], batch: read.batch }, locksFirst: true },
    async begin(transaction) {
      await consumeClaim(transaction, owner, chain, range);
      await requireSameBlocks(transaction, chain, read.blocks, read.isLinked !== false);
    },
    async write(transaction, { lock }) {
      await lock();
      const written = await writeRepairs(transaction, options, read);
      // Invariant: PROOF-SAME-CHAIN
      if (read.isLinked === false && written.result.length > 0) throw new UnlinkedRepair();
      return written;
    },
  });
  for (const { block, upstream, kind, missing, surplus } of repairedBlocks(repairs)) {
    metrics.proverRepairedBlocks.inc({ chain: chain.key, upstream: upstream ?? 'unknown' });
    const what = `its logs of block ${block} had ${missing} rows too few and ${surplus} too many`;
    const isSource = upstream !== null && sources?.blame(upstream, what, { from: block, to: block });
    if (upstream !== null && isSource !== true) pool.reportFault(upstream, kind, { block, missing, surplus });
  }
  return repairs;
}

async function writeRepairs(
  transaction: Transaction,
  options: VerifyOptions,
  read: DecodedRange,
): Promise<SettledRows<Repair[]>> {
  const { chain } = options;
  const { range } = read;
  const coverage = await listCoverage(transaction, chain.id);
  const datasets = wholeDatasets(options, read).filter((dataset) => isKept(options, dataset, range, coverage));
  const watches = await watchRows(transaction, chain, datasets, range);
  const independent = independentOf(datasets);
  const batch = batchOf(read.batch, datasets);
  const contracts = await stageRows(transaction, batchOf(batch, independent).parts);
  const repairing = { range, coverage, failures: batch.failures };
  const repairs = [
    ...(await repairRows(transaction, chain, independent, repairing)),
    ...(await repairDependentRows(transaction, chain, datasets, { ...repairing, batch, watches })),
  ];
  await writeBlocks(transaction, batch.blockLines);
  await recordLevels(transaction, chain, datasets, read.levels);
  await recordDatasetFailures(transaction, chain.id, batch.failures);
  await raiseLinked(transaction, chain, options.datasets);
  await recordFaults(transaction, chain.id, repairedBlocks(repairs));
  for (const [dataset, ofDataset] of Map.groupBy(repairs, (repair) => repair.dataset)) {
    const blocks = ofDataset.map(({ block }) => block);
    await recordRewritten(transaction, chain.id, [dataset], {
      from: Math.min(...blocks),
      to: Math.max(...blocks),
    });
  }
  return { contracts, result: repairs };
}

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
  readonly failures: readonly DecodeFailure[];
}

async function repairRows(
  transaction: Transaction,
  chain: Chain,
  datasets: readonly Dataset[],
  { range, coverage, failures }: Repairing,
): Promise<Repair[]> {
  const surplus: RepairedRows[] = [];
  for (const dataset of datasets) {
    const ofDataset = failures.filter((failure) => failure.dataset === dataset);
    const failed = ofDataset.map(({ block }) => ({ from: block, to: block }));
    for (const decoded of subtractRanges([range], failed))
      surplus.push(await removeSurplus(transaction, chain, dataset, decoded));
  }
  await deriveRemoved(transaction, chain, surplus);
  const missing: RepairedRows[] = [];
  for (const dataset of datasets) missing.push(await addMissing(transaction, chain, dataset, range));
  await deriveAdded(transaction, chain, missing);
  const byBlockOf = (rows: readonly RepairedRows[], dataset: Dataset): readonly BlockRowCount[] =>
    rows.filter((repaired) => repaired.dataset === dataset).flatMap(({ byBlock }) => byBlock);
  return datasets.flatMap((dataset) =>
    differencesByBlock(byBlockOf(surplus, dataset), byBlockOf(missing, dataset)).flatMap((difference) => {
      const covering = coverage.find(
        ({ dataset: name, range: { from, to } }) =>
          name === dataset.name && from <= difference.block && difference.block <= to,
      );
      return covering === undefined
        ? []
        : [{ ...difference, dataset: dataset.name, upstream: covering.upstream }];
    }),
  );
}

/** Dataset by dataset: rows may depend on repaired ones. */
async function repairDependentRows(
  transaction: Transaction,
  chain: Chain,
  datasets: readonly Dataset[],
  { batch, watches, ...repairing }: Repairing & { readonly batch: DecodedBatch; readonly watches: RowWatches },
): Promise<readonly Repair[]> {
  const repairs: Repair[] = [];
  for (const dataset of datasets) {
    if (isDependent(dataset)) {
      const parts: DatasetLines[] = [];
      const selecting = { chain, datasets, range: repairing.range, batch };
      for await (const part of selectedParts(transaction, selecting, dataset)) parts.push(part);
      await stageRows(transaction, parts);
      // Rows that are new because repairs removed coverage are no fault of an upstream.
      const coverage = await listCoverage(transaction, chain.id, repairing.range);
      repairs.push(...(await repairRows(transaction, chain, [dataset], { ...repairing, coverage })));
    }
    await watches.get(dataset)?.();
  }
  return repairs;
}
function differencesByBlock(surplus: readonly BlockRowCount[], missing: readonly BlockRowCount[]) {
  const [more, less] = [surplus, missing].map(
    (rows) => new Map(rows.map(({ block, rows: count }) => [block, count])),
  );
  const blocks = new Set([...surplus, ...missing].map(({ block }) => block));
  return [...blocks]
    .toSorted((a, b) => a - b)
    .map((block) => ({ block, missing: less?.get(block) ?? 0, surplus: more?.get(block) ?? 0 }));
}

export interface Repair {
  readonly dataset: string;
  readonly block: number;
  readonly missing: number;
  readonly surplus: number;
  /** Null if not known any more. */
  readonly upstream: string | null;
}

interface RepairedBlock {
  readonly block: number;
  readonly upstream: string | null;
  readonly kind: FaultKind;
  readonly missing: number;
  readonly surplus: number;
  readonly datasets: Readonly<Record<string, { readonly missing: number; readonly surplus: number }>>;
}

/** A repaired block is one fault of its upstream, however many datasets it affects. */
function repairedBlocks(repairs: readonly Repair[]): RepairedBlock[] {
  const groups = Object.values(Object.groupBy(repairs, ({ block, upstream }) => `${block} ${upstream}`));
  return groups.flatMap((group) => {
    const [first] = group ?? [];
    if (group === undefined || first === undefined) return [];
    const missing = group.reduce((sum, repair) => sum + repair.missing, 0);
    return [
      {
        block: first.block,
        upstream: first.upstream,
        kind: missing > 0 ? ('missing-logs' as const) : ('surplus-logs' as const),
        missing,
        surplus: group.reduce((sum, repair) => sum + repair.surplus, 0),
        datasets: Object.fromEntries(
          group.map(({ dataset, missing, surplus }) => [dataset, { missing, surplus }]),
        ),
      },
    ];
  });
}

async function recordFaults(
  transaction: Transaction,
  chainId: ChainId,
  repaired: readonly RepairedBlock[],
): Promise<void> {
  for (const { block, upstream, kind, missing, surplus, datasets } of repaired)
    await transaction.query(
      sql`INSERT INTO upstream_errors (chain_id, upstream, kind, block_number, facts) VALUES (${chainId}, ${upstream ?? 'unknown'}, ${kind}, ${block}, ${JSON.stringify({ missing, surplus, datasets })})
       ON CONFLICT (chain_id, upstream, kind, block_number) DO UPDATE
         SET occurrences = upstream_errors.occurrences + 1, facts = excluded.facts, seen_at = now()`,
    );
}
