/** Resumes anywhere; skips versions that are covered meanwhile. */
import { type BlockRange, ChainsteadError, errorText, rangeSize } from '@chainstead/core';
import { chainKeyOf } from '../fullnode/network.ts';
import { commitBatch } from './commit-batch.ts';
import { listCoverage, type MissingVersions, missingVersions } from './coverage.ts';
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
const RETRY_DELAY_MS = 1_000;
const RETRY_DELAY_MAX_MS = 30_000;

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
  const chunks = newestFirst(left, options.chunkVersions ?? CHUNK_VERSIONS);
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

async function listMissing(
  { database, datasets, fullnodes }: VersionWork,
  wanted: readonly BlockRange[],
): Promise<MissingVersions[]> {
  const names = datasets.map(({ name }) => name);
  return missingVersions(wanted, names, await listCoverage(database, fullnodes.network));
}

function* newestFirst(left: readonly MissingVersions[], size: number): Generator<BlockRange, undefined> {
  for (const { range } of left.toReversed())
    for (let to = range.to; to >= range.from; to -= size) yield { from: Math.max(range.from, to - size + 1), to };
}

async function fillChunk(options: VersionFillOptions, chunk: BlockRange, signal: AbortSignal): Promise<void> {
  const { clock, fullnodes, logger } = options;
  for (let delay = RETRY_DELAY_MS; ; delay = Math.min(delay * 2, RETRY_DELAY_MAX_MS)) {
    signal.throwIfAborted();
    try {
      for (const missing of await listMissing(options, [chunk])) await fillPart(options, missing, signal);
      return;
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof ChainsteadError && !error.retryable) throw error;
      const facts = { chain: chainKeyOf(fullnodes.network), version_range: `${chunk.from}-${chunk.to}` };
      logger.warn({ ...facts, error: errorText(error), retry_in_ms: delay }, 'Range failed, trying again');
      await clock.sleep(delay, signal);
    }
  }
}

async function fillPart(options: VersionFillOptions, missing: MissingVersions, signal: AbortSignal): Promise<void> {
  const datasets = options.datasets.filter(({ name }) => missing.datasets.includes(name));
  for await (const batch of readRange(options, datasets, missing.range, signal)) {
    const confirmedBy = await confirmRoot(options.fullnodes, batch, signal);
    await commitBatch(options, { batch, datasets: missing.datasets, kind: 'backfill', confirmedBy });
  }
}
