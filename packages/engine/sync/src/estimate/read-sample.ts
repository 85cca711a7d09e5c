/** Reads and decodes a sample as a backfill does, and writes nothing. */
import { type BlockRange, errorText, rangeSize, sleepUnlessAborted } from '@chainstead/core';
import { RangeTooLargeError, type UpstreamPool } from '@chainstead/rpc';
import { type BlockSource, SourceError } from '@chainstead/sources';
import PQueue from 'p-queue';
import { type ReadOptions, readDecoded, readDecodedParts } from '../backfill/backfill-chunk.ts';
import type { BackfillOptions } from '../backfill/backfill-options.ts';
import { CHUNKS_IN_FLIGHT } from '../backfill/chunk-plan.ts';
import { halvesOf } from '../backfill/retry-range.ts';
import type { Dataset } from '../dataset/dataset.ts';
import type { DecodedRange } from '../read/read-range.ts';
import { bytesOfRow } from './row-bytes.ts';
import type { SampleRun } from './sample-runs.ts';

export interface Sample {
  readonly blocks: number;
  /** Logs, as chunks are sized by. */
  readonly weight: number;
  readonly runs: readonly RunTimes[];
  /** By dataset. */
  readonly rows: ReadonlyMap<string, RowCount>;
  /** Rows of the table `blocks`. */
  readonly blockRows: number;
  /** Parts of the source's blocks whose runs failed. */
  readonly failed: readonly BlockRange[];
  /** The first failure; null: none. */
  readonly failure: string | null;
}

export interface RunTimes {
  readonly blocks: number;
  /** For the first data of a source and for its anchor, once in each request; 0 for nodes. */
  readonly waitMs: number;
  /** The rest, to the last decoded row. */
  readonly workMs: number;
}

export interface RowCount {
  readonly rows: number;
  /** Computed, with indexes. */
  readonly bytes: number;
}

export type SampleOptions = ReadOptions & Pick<BackfillOptions, 'clock'>;

const DEADLINE_MS = 60_000;
const FAILURES_IN_A_ROW = 3;

/** As many runs at once as a backfill has chunks: they share the network and the processor. @param source null: nodes */
export async function readSample(
  options: SampleOptions,
  datasets: readonly Dataset[],
  { source, runs }: { readonly source: BlockSource | null; readonly runs: readonly SampleRun[] },
  signal: AbortSignal,
): Promise<Sample> {
  const rows = new Map<string, RowCount>();
  const times: RunTimes[] = [];
  const sum = { blocks: 0, weight: 0, blockRows: 0 };
  let failure: string | null = null;
  // A slow source is sampled by the blocks that it sent until then.
  const [late, ended] = [new AbortController(), new AbortController()];
  const deadline = AbortSignal.any([signal, late.signal]);
  void sleepUnlessAborted(options.clock, DEADLINE_MS, AbortSignal.any([signal, ended.signal])).then(() =>
    late.abort(),
  );
  const take = ({ range, weight, batch, lacking }: DecodedRange): number => {
    for (const { reason } of lacking.values()) failure ??= reason;
    if (lacking.size > 0) {
      batch.release();
      return 0;
    }
    sum.blocks += rangeSize(range);
    sum.weight += weight;
    sum.blockRows += batch.blockLines.length;
    for (const { dataset, lines } of batch.parts) {
      const before = rows.get(dataset.name) ?? { rows: 0, bytes: 0 };
      const bytes = lines.reduce((total, line) => total + bytesOfRow(dataset.table, line), before.bytes);
      rows.set(dataset.name, { rows: before.rows + lines.length, bytes });
    }
    batch.release();
    return rangeSize(range);
  };
  const failed = new Set<number>();
  const isHopeless = (): boolean =>
    [...failed].some((first) => failed.has(first + 1) && failed.has(first + FAILURES_IN_A_ROW - 1));
  const readRun = async ({ range }: SampleRun, index: number): Promise<void> => {
    if (deadline.aborted) return;
    if (isHopeless()) {
      failed.add(index);
      return;
    }
    const startedAt = performance.now();
    let waitMs = 0;
    let blocks = 0;
    const onWait = (sinceMs: number): void => {
      waitMs += performance.now() - sinceMs;
    };
    const onFailure = (error: unknown): void => {
      failure ??= reasonOf(error);
    };
    try {
      for await (const read of source === null
        ? readFromNodes(options, datasets, range, deadline)
        : readDecodedParts(
            { ...options, pool: noteAnchors(options.pool, onWait) },
            datasets,
            chosenOf(source, range, () => onWait(startedAt), onFailure),
            deadline,
          ))
        blocks += take(read);
    } catch (error) {
      signal.throwIfAborted();
      if (!deadline.aborted) onFailure(error);
    }
    if (blocks < rangeSize(range) && !deadline.aborted) failed.add(index);
    if (blocks > 0) times.push({ blocks, waitMs, workMs: performance.now() - startedAt - waitMs });
  };
  const queue = new PQueue({ concurrency: CHUNKS_IN_FLIGHT });
  await queue.addAll(runs.map((run, index) => () => readRun(run, index)));
  const isLate = deadline.aborted;
  ended.abort();
  if (sum.blocks === 0 && isLate) failure ??= `no block within ${DEADLINE_MS / 1_000} s`;
  return { ...sum, rows, runs: times, failed: [...failed].flatMap((index) => runs[index]?.part ?? []), failure };
}

/** A run with a large block is read in halves, as a backfill does. */
async function* readFromNodes(
  options: SampleOptions,
  datasets: readonly Dataset[],
  range: BlockRange,
  signal: AbortSignal,
): AsyncGenerator<DecodedRange> {
  const read = await readDecoded(options, datasets, range, signal).catch((error: unknown) => {
    if (error instanceof RangeTooLargeError && rangeSize(range) > 1) return null;
    throw error;
  });
  if (read !== null) yield read;
  else for (const half of halvesOf('oldest-first', range)) yield* readFromNodes(options, datasets, half, signal);
}

/** Notes when the source sends the first block or page of the range. */
function chosenOf(
  source: BlockSource,
  range: BlockRange,
  onFirst: () => void,
  onFailure: (error: unknown) => void,
) {
  return {
    source: {
      name: source.name,
      available: (signal: AbortSignal) => source.available(signal),
      readBlocks: (...wanted: Parameters<BlockSource['readBlocks']>) =>
        noting(source.readBlocks(...wanted), onFirst),
      readLogs: (...wanted: Parameters<BlockSource['readLogs']>) => noting(source.readLogs(...wanted), onFirst),
      close: () => source.close(),
    },
    range,
    succeeded: (): void => undefined,
    completed: (): void => undefined,
    failed: onFailure,
  };
}

/** Without the remedy of an error that was only met by a sample. */
export function reasonOf(error: unknown): string {
  return error instanceof SourceError ? String(error.facts.what) : errorText(error);
}

/** A header alone confirms the end of a part: a full request has few of them. */
function noteAnchors(pool: UpstreamPool, onWait: (sinceMs: number) => void): UpstreamPool {
  return {
    ...pool,
    async getHeaders(numbers, requested) {
      const startedAt = performance.now();
      const headers = await pool.getHeaders(numbers, requested);
      if (numbers.length === 1) onWait(startedAt);
      return headers;
    },
  };
}

async function* noting<Item>(items: AsyncIterable<Item>, onFirst: () => void): AsyncGenerator<Item> {
  let isFirst = true;
  for await (const item of items) {
    if (isFirst) onFirst();
    isFirst = false;
    yield item;
  }
}
