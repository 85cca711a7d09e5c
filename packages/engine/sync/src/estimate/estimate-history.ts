/** Rows, disk and time of a backfill, from a sample of each source. Nothing is written. */
import { type BlockRange, intersectRanges, mergeRanges, rangeSize, subtractRanges } from '@chainstead/core';
import type { Database } from '@chainstead/db';
import type { BlockSource } from '@chainstead/sources';
import { isReadWhole, missingRanges, readTogether } from '../backfill/backfill-ranges.ts';
import { CHUNKS_IN_FLIGHT, FAST_CHUNK, SOURCE_CHUNK } from '../backfill/chunk-work.ts';
import type { RetentionScope } from '../coverage/retained-from.ts';
import type { Dataset } from '../dataset/dataset.ts';
import { datasetsOf } from '../dataset/datasets-of.ts';
import { partsOf } from '../dataset/whole-block.ts';
import { chunkBlocks } from '../read/chunk-size.ts';
import { mayReadFromSource } from '../read/read-range.ts';
import {
  type RunTimes,
  readSample,
  reasonOf,
  type Sample,
  type SampleOptions,
  sampleRuns,
} from './read-sample.ts';

export interface EstimateOptions extends SampleOptions, Pick<RetentionScope, 'retention'> {
  readonly datasets: readonly Dataset[];
  readonly sources: readonly BlockSource[];
  /** False for a chain that is read from its sources alone. */
  readonly hasNodes: boolean;
  /** Null: none exists yet, so no block is indexed. */
  readonly database: Database | null;
  /** Bytes of a row with indexes by table, of tables that have rows. */
  readonly rowBytes: ReadonlyMap<string, number>;
}

export interface HistoryEstimate {
  /** Missing in any dataset. */
  readonly blocks: number;
  readonly datasets: readonly DatasetEstimate[];
  readonly reads: readonly ReadEstimate[];
  /** From the first source that has a block, else from nodes. Null: some blocks can't be read. */
  readonly seconds: number | null;
}

export interface DatasetEstimate {
  /** Or the table `blocks`. */
  readonly name: string;
  /** Null: no source could be read. */
  readonly rows: number | null;
  readonly bytes: number | null;
  /** False: computed from the rows of the sample. */
  readonly isMeasured: boolean;
}

export type Reading = 'whole blocks' | 'filtered logs' | 'traces';

/** One source, and one way to read it. */
export interface ReadEstimate {
  /** Null: nodes. */
  readonly source: string | null;
  readonly reading: Reading;
  /** Missing blocks that it has. */
  readonly blocks: number;
  readonly sampled: number;
  /** Blocks that the sample was to have. */
  readonly intended: number;
  /** Null: nothing could be read. */
  readonly perSecond: number | null;
  /** The first one. Other parts of the range may be readable. */
  readonly failure: string | null;
}

/** @throws only if `signal` aborts or the database fails; sources that fail are part of the estimate */
export async function estimateHistory(
  options: EstimateOptions,
  ranges: readonly BlockRange[],
  signal: AbortSignal,
): Promise<HistoryEstimate> {
  const datasets = datasetsOf(options.chain, options.datasets);
  const found: DatasetEstimate[] = [];
  const reads: ReadEstimate[] = [];
  let seconds: number | null = 0;
  const missing: BlockRange[] = [];
  let blockRows = 0;
  const { chain, database, proof } = options;
  const readsTracesApart = options.sources.length > 0;
  for (const group of readTogether({ chain, proof, datasets, readsTracesApart })) {
    const open =
      database === null
        ? mergeRanges(ranges)
        : await missingRanges({ ...options, database, datasets: group }, ranges);
    missing.push(...open);
    const sampled = await sampleGroup(options, group, open, signal);
    reads.push(...sampled.map(({ read }) => read));
    const best = sampled.toSorted((a, b) => b.sample.blocks - a.sample.blocks)[0]?.sample;
    const scale = best === undefined || best.blocks === 0 ? null : sizeOf(open) / best.blocks;
    found.push(...group.map((dataset) => datasetEstimate(options, dataset, best, scale)));
    blockRows = Math.max(blockRows, (best?.blockRows ?? 0) * (scale ?? 0));
    seconds = sumOrNull(seconds, secondsOf(sampled, open));
  }
  const bytes = options.rowBytes.get('blocks');
  const blocks = {
    ...{ name: 'blocks', rows: Math.round(blockRows), isMeasured: bytes !== undefined },
    bytes: Math.round(blockRows * (bytes ?? BLOCK_ROW_BYTES)),
  };
  return { blocks: sizeOf(mergeRanges(missing)), datasets: [...found, blocks], reads, seconds };
}

/** docs/operate/sizing-and-cost.md */
const BLOCK_ROW_BYTES = 100;

interface SampledSource {
  readonly has: readonly BlockRange[];
  readonly sample: Sample;
  readonly read: ReadEstimate;
}

async function sampleGroup(
  options: EstimateOptions,
  group: readonly Dataset[],
  open: readonly BlockRange[],
  signal: AbortSignal,
): Promise<readonly SampledSource[]> {
  const { chain, sources, hasNodes } = options;
  const isWhole = isReadWhole(options, group);
  const mayUse = !isWhole || mayReadFromSource(chain, partsOf(group, chain));
  const sampled: SampledSource[] = [];
  // One after another: each gets the network and the processor of the backfill.
  for (const source of [...(mayUse ? sources : []), ...(hasNodes ? [null] : [])]) {
    const { has, failure } = await availableOf(source, open, signal);
    const runs = sampleRuns(has);
    const sample = await readSample(options, group, { source, runs }, signal);
    const read = {
      ...{ source: source?.name ?? null, reading: readingOf(options, group) },
      ...{ blocks: sizeOf(has), sampled: sample.blocks, intended: sizeOf(runs.map(({ range }) => range)) },
      perSecond: rateOf(
        sample,
        source === null ? (isWhole ? null : FAST_CHUNK) : SOURCE_CHUNK[isWhole ? 'blocks' : 'logs'],
      ),
      failure: failure ?? sample.failure,
    };
    sampled.push({ has, sample, read });
  }
  return sampled;
}

async function availableOf(source: BlockSource | null, open: readonly BlockRange[], signal: AbortSignal) {
  if (source === null) return { has: open, failure: null };
  try {
    return { has: intersectRanges(await source.available(signal), open), failure: null };
  } catch (error) {
    signal.throwIfAborted();
    return { has: [], failure: reasonOf(error) };
  }
}

function readingOf(options: EstimateOptions, group: readonly Dataset[]): Reading {
  if (partsOf(group, options.chain).has('internalTransactions')) return 'traces';
  return isReadWhole(options, group) ? 'whole blocks' : 'filtered logs';
}

/**
 * Blocks per second: chunks in flight ÷ (wait for a request ÷ its blocks + time per block).
 * @param chunk null: each block has its own requests
 */
export function rateOf(
  { runs, blocks, weight }: Pick<Sample, 'runs' | 'blocks' | 'weight'>,
  chunk: { readonly blocksMax: number; readonly logsPerChunk: number } | null,
): number | null {
  if (blocks === 0) return null;
  // The first ones open connections and start signer processes.
  const steady = runs.length > 2 * CHUNKS_IN_FLIGHT ? runs.slice(CHUNKS_IN_FLIGHT) : runs;
  const isNode = steady.every(({ waitMs }) => waitMs === 0);
  // Nodes name no first block: the fastest request shows how long an empty one takes.
  const fastest = isNode && chunk !== null ? Math.min(...steady.map(({ workMs }) => workMs)) : 0;
  const sumOf = (part: keyof RunTimes): number => steady.reduce((sum, run) => sum + run[part], 0);
  const wait = sumOf('waitMs') / steady.length + fastest;
  const work = (sumOf('workMs') - fastest * steady.length) / sumOf('blocks');
  const perRequest = chunk === null ? 1 : chunkBlocks(chunk, weight / blocks);
  return (CHUNKS_IN_FLIGHT * 1_000) / Math.max(1e-3, wait / perRequest + work);
}

function datasetEstimate(
  { rowBytes }: EstimateOptions,
  dataset: Dataset,
  sample: Sample | undefined,
  scale: number | null,
): DatasetEstimate {
  const { name, table } = dataset;
  const counted = sample?.rows.get(name) ?? { rows: 0, bytes: 0 };
  const measured = rowBytes.get(table.name);
  if (scale === null) return { name, rows: null, bytes: null, isMeasured: false };
  const bytes = measured === undefined ? counted.bytes : counted.rows * measured;
  return {
    ...{ name, isMeasured: measured !== undefined },
    ...{ rows: Math.round(counted.rows * scale), bytes: Math.round(bytes * scale) },
  };
}

function secondsOf(sampled: readonly SampledSource[], open: readonly BlockRange[]): number | null {
  let left = open;
  let seconds = 0;
  for (const { has, sample, read } of sampled) {
    if (read.perSecond === null) continue;
    const readable = subtractRanges(has, sample.failed);
    seconds += sizeOf(intersectRanges(left, readable)) / read.perSecond;
    left = subtractRanges(left, readable);
  }
  return sizeOf(left) === 0 ? seconds : null;
}

function sumOrNull(one: number | null, other: number | null): number | null {
  return one === null || other === null ? null : one + other;
}

function sizeOf(ranges: readonly BlockRange[]): number {
  return ranges.reduce((sum, range) => sum + rangeSize(range), 0);
}
