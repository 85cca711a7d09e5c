/** Reads and decodes a sample as a backfill does, and writes nothing. */
import { type BlockRange, errorText, rangeSize, sleepUnlessAborted } from '@chainstead/core';
import { RangeTooLargeError, type UpstreamPool } from '@chainstead/rpc';
import { type BlockSource, SourceError } from '@chainstead/sources';
import PQueue from 'p-queue';
import { type ReadOptions, readDecoded, readDecodedParts } from '../backfill/backfill-chunk.ts';
import type { BackfillOptions } from '../backfill/backfill-options.ts';
import { CHUNKS_IN_FLIGHT } from '../backfill/chunk-work.ts';
import { halvesOf } from '../backfill/retry-range.ts';
import type { Dataset } from '../dataset/dataset.ts';
import type { RowTable } from '../dataset/row-table.ts';
import type { DecodedRange } from '../read/read-range.ts';

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

interface RowCount {
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

export const SAMPLE_BLOCKS = 200;
/** Each is one request of a source. */
const RUNS = 20;

interface SampleRun {
  readonly range: BlockRange;
  /** All blocks that the run stands for. */
  readonly part: readonly BlockRange[];
}

/** Runs of consecutive blocks in the middle of equal parts; all blocks if there are few. The first ones are spread over all parts. */
export function sampleRuns(ranges: readonly BlockRange[]): SampleRun[] {
  const total = ranges.reduce((sum, range) => sum + rangeSize(range), 0);
  const size = Math.min(SAMPLE_BLOCKS, total) / RUNS;
  const margin = (total / RUNS - size) / 2;
  const order = Array.from({ length: RUNS }, (_, run) => run).toSorted(
    (a, b) => reversedBits(a) - reversedBits(b),
  );
  return order.flatMap((run) => {
    const start = (total / RUNS) * run;
    const part = cut(ranges, Math.floor(start), Math.floor((total / RUNS) * (run + 1)));
    return cut(ranges, Math.floor(start + margin), Math.floor(start + margin + size)).map((range) => ({
      range,
      part,
    }));
  });
}

function reversedBits(run: number): number {
  return Number.parseInt([...run.toString(2).padStart(5, '0')].toReversed().join(''), 2);
}

/** The blocks from one offset to before another, counted over all ranges. */
function cut(ranges: readonly BlockRange[], start: number, end: number): BlockRange[] {
  let before = 0;
  return ranges.flatMap((range) => {
    const from = range.from + Math.max(0, start - before);
    const to = Math.min(range.to, range.from + end - before - 1);
    before += rangeSize(range);
    return from <= to ? [{ from, to }] : [];
  });
}

/** With the pointer in its page. */
const ROW_HEADER = 28;
/** With the pointer in its page. */
const INDEX_ENTRY = 12;
/** Text and bytea begin with their length. */
const LENGTH_BYTES = 1;
/** COPY sends four numbers before the digits; a stored number has two bytes, and its length. */
const NUMERIC_LESS = 5;
const FIELD_LENGTH_AT = 2;
const FIELD_LENGTH_BYTES = 4;
const ALIGNMENT = 8;
const PARTIAL_SHARE = 0.5;
/** B-tree pages after inserts in no order. */
const INDEX_FILL = 0.8;

/** With its entries in all indexes, in bytes. @param line in COPY's binary format */
function bytesOfRow({ columns, types, key, indexes = [] }: RowTable, line: string): number {
  const widths = new Map<string, number>();
  let at = FIELD_LENGTH_AT;
  for (const column of columns) {
    const length = lengthAt(line, at);
    at += FIELD_LENGTH_BYTES + length;
    widths.set(column, length === 0 ? 0 : length + lengthBytes(types.get(column)?.type ?? ''));
  }
  const widthOf = (names: readonly string[]): number =>
    aligned(names.reduce((sum, name) => sum + (widths.get(name) ?? ALIGNMENT), 0));
  const entries = [{ columns: key, isPartial: false }, ...indexes].map(
    (index) => (INDEX_ENTRY + widthOf(index.columns)) * (index.isPartial ? PARTIAL_SHARE : 1),
  );
  return ROW_HEADER + widthOf(columns) + entries.reduce((sum, bytes) => sum + bytes, 0) / INDEX_FILL;
}

function lengthBytes(type: string): number {
  if (/^(bool|small|int|big|timestamp)/.test(type)) return 0;
  return /^numeric(\(|$)/.test(type) ? -NUMERIC_LESS : LENGTH_BYTES;
}

/** A null value has no bytes: its length is -1. */
function lengthAt(line: string, at: number): number {
  let length = 0;
  for (let byte = 0; byte < FIELD_LENGTH_BYTES; byte++) length = (length << 8) | line.charCodeAt(at + byte);
  return Math.max(0, length);
}

function aligned(bytes: number): number {
  return Math.ceil(bytes / ALIGNMENT) * ALIGNMENT;
}
