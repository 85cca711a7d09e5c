/** Resumes anywhere; skips versions that are covered meanwhile. */
import { type BlockRange, ChainsteadError, mergeRanges, rangeSize } from '@chainstead/core';
import { chunksOf, untilItSucceeds } from '@chainstead/sync/ingest';
import { missingCoverage } from '@chainstead/sync/requests';
import { commitBatch } from './commit-batch.ts';
import { listCoverage } from './coverage.ts';
import type { VersionWork } from './options.ts';
import { readRange } from './read-range.ts';
import { confirmRoot } from './roots.ts';

export interface FillProgress {
  readonly done: number;
  readonly total: number;
  readonly rows: number;
}

export interface VersionFillOptions extends VersionWork {
  /** @default 10,000 */
  readonly chunkVersions?: number;
  onProgress?(progress: FillProgress): void;
}

const CHUNKS_IN_FLIGHT = 4;
const CHUNK_VERSIONS = 10_000;

/** Retries transient failures until aborted. @throws VersionsPrunedError, RootMismatchError */
export async function fillVersions(
  options: VersionFillOptions,
  ranges: readonly BlockRange[],
  signal: AbortSignal,
): Promise<FillProgress> {
  const left = await listMissing(options, ranges);
  const total = left.reduce((sum, { range }) => sum + rangeSize(range), 0);
  const failed = new AbortController();
  const stop = AbortSignal.any([signal, failed.signal]);
  const sizing = { next: () => options.chunkVersions ?? CHUNK_VERSIONS };
  const chunks = left
    .toReversed()
    .values()
    .flatMap(({ range }) => chunksOf({ order: 'newest-first' }, range, sizing));
  let done = 0;
  let rows = 0;
  const counting: VersionFillOptions = {
    ...options,
    onCommit: (committed) => {
      rows += committed.rows;
      options.onCommit?.(committed);
    },
  };
  const takeChunks = async (): Promise<void> => {
    for (let chunk = chunks.next(); chunk.done !== true; chunk = chunks.next()) {
      await fillChunk(counting, chunk.value, stop);
      done += rangeSize(chunk.value);
      options.onProgress?.({ done, total, rows });
    }
  };
  const workers = Array.from({ length: CHUNKS_IN_FLIGHT }, () =>
    takeChunks().catch((error: unknown) => {
      failed.abort(error);
    }),
  );
  await Promise.all(workers);
  stop.throwIfAborted();
  return { done, total, rows };
}

type MissingVersions = ReturnType<typeof missingCoverage>[number];

async function listMissing(
  { database, datasets, fullnodes }: VersionWork,
  wanted: readonly BlockRange[],
): Promise<MissingVersions[]> {
  const names = datasets.map(({ name }) => name);
  const coverage = await listCoverage(database, fullnodes.network);
  return mergeRanges(wanted).flatMap((range) => missingCoverage(range, names, coverage));
}

async function fillChunk(options: VersionFillOptions, chunk: BlockRange, signal: AbortSignal): Promise<void> {
  const { clock, fullnodes, logger } = options;
  const trying = { chain: { key: fullnodes.chain }, clock, logger, unit: 'version' } as const;
  const fill = async (): Promise<void> => {
    for (const missing of await listMissing(options, [chunk])) await fillPart(options, missing, signal);
  };
  const isFinal = (error: unknown): boolean => error instanceof ChainsteadError && !error.retryable;
  await untilItSucceeds(trying, chunk, signal, fill, isFinal);
}

async function fillPart(
  options: VersionFillOptions,
  missing: MissingVersions,
  signal: AbortSignal,
): Promise<void> {
  const datasets = options.datasets.filter(({ name }) => missing.datasets.includes(name));
  for await (const batch of readRange(options, datasets, missing.range, signal)) {
    const confirmedBy = await confirmRoot(options.fullnodes, batch, signal);
    await commitBatch(options, { batch, datasets: missing.datasets, kind: 'backfill', confirmedBy });
  }
}
