/** Resumes anywhere; skips versions that are covered meanwhile. */
import { type BlockRange, ChainsteadError, defineError, mergeRanges, rangeSize } from '@chainstead/core';
import { chunksOf, untilItSucceeds } from '@chainstead/sync/ingest';
import { missingCoverage } from '@chainstead/sync/requests';
import { VersionsPrunedError } from '../fullnode/errors.ts';
import { listCoverage, lockCommits, recordCoverage } from './aptos-status.ts';
import type { CommittedBatch, VersionWork } from './options.ts';
import { readRange, type VersionBatch } from './read-range.ts';
import { confirmRoot, dropUnconfirmedRoot, saveRoot } from './roots.ts';

export interface FillProgress {
  readonly done: number;
  readonly total: number;
  readonly rows: number;
}

interface VersionFillOptions extends VersionWork {
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

export interface BatchCommit {
  readonly batch: VersionBatch;
  readonly datasets: readonly string[];
  readonly kind: CommittedBatch['kind'];
  readonly confirmedBy: string | null;
  readonly keptRoot?: number | undefined;
}

const MS_PER_SECOND = 1_000;

/** One transaction; concurrent writes of the same versions are harmless. */
export async function commitBatch(
  work: VersionWork,
  { batch, datasets, kind, confirmedBy, keptRoot }: BatchCommit,
): Promise<void> {
  const { clock, database, fullnodes, metrics } = work;
  const { chain, network } = fullnodes;
  const started = clock.now();
  const added = await database.transaction(async (transaction) => {
    await lockCommits(transaction, network);
    await work.leadership?.confirm(transaction);
    const rows = new Map<string, number>();
    for (const { dataset, rows: decoded } of batch.decoded)
      rows.set(dataset, (rows.get(dataset) ?? 0) + (await decoded.write(transaction)));
    await recordCoverage(transaction, network, datasets, batch.range);
    const before = batch.range.from - 1;
    if (kind === 'follow' && before !== keptRoot) await dropUnconfirmedRoot(transaction, network, before);
    // Invariant: APTOS-ROOT-CONFIRMED
    await saveRoot(transaction, network, batch, confirmedBy);
    return rows;
  });
  const versions = batch.range.to - batch.range.from + 1;
  metrics.commitSeconds.observe({ chain, kind }, (clock.now() - started) / MS_PER_SECOND);
  metrics.blocks.inc({ chain, kind }, versions);
  for (const [dataset, count] of added) metrics.rows.inc({ chain, dataset }, count);
  const rows = [...added.values()].reduce((sum, count) => sum + count, 0);
  work.onCommit?.({ kind, versions, rows, last: batch.range.to });
}

/** @throws VersionsNotThereError, VersionsPrunedError (before any read), RootMismatchError */
export async function backfillVersions(
  options: VersionFillOptions,
  ranges: readonly BlockRange[],
  signal: AbortSignal,
): Promise<FillProgress> {
  const { fullnodes } = options;
  const { chain } = fullnodes;
  const { head, oldest } = await fullnodes.ledger(signal);
  for (const range of ranges) {
    if (range.to > head) throw new VersionsNotThereError({ chain, range, head });
    if (range.from < oldest) {
      const names = fullnodes.status().map(({ name }) => name);
      throw new VersionsPrunedError({ chain, version: range.from, oldest, fullnodes: names });
    }
  }
  return fillVersions(options, ranges, signal);
}

class VersionsNotThereError extends defineError(
  'VERSIONS_NOT_THERE',
  (facts: { chain: string; range: BlockRange; head: number }) => ({
    message: `Versions ${facts.range.from} to ${facts.range.to} of ${facts.chain} exceed ${facts.head}, the newest version of its fullnodes`,
    remedy: `Set --to to ${facts.head} or lower. "chainstead start" indexes newer versions`,
  }),
) {}
