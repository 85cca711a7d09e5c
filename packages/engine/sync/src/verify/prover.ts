/** Newest first, one claimed span after another, to the level `receipts`. */
import { type BlockRange, type Clock, errorText, type Logger, mergeRanges, rangeSize } from '@chainstead/core';
import { failureLevel } from '@chainstead/db';
import { CONTRADICTIONS, type DatasetCoverage, listCoverage } from '../coverage/coverage.ts';
import { deepestPart, partsOf } from '../dataset/whole-block.ts';
import { batchOf } from '../read/decoded-batch.ts';
import { type DecodedRange, mayReadFromSource } from '../read/read-range.ts';
import { createProverLoadSignals, createProverPace } from './prover-pace.ts';
import type { ReadingTurn } from './read-proven-parts.ts';
import { type VerifiedPart, type VerifyOptions, verifyParts, verifyRange } from './verify-range.ts';

export interface ProverOptions extends VerifyOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Blocks per second; auto: as many as the upstreams allow; 0: off. */
  readonly rate: number | 'auto';
  isBehind(): boolean;
  /** Missing blocks need the upstreams more. */
  isFilling(): boolean;
  /** Null while there is nothing to prove. */
  onRate(blocksPerSecond: number | null): void;
  readonly idleMs: number;
  /** No more blocks will be covered: the prover ends after one complete round. */
  finished(): boolean;
}

const READS_IN_FLIGHT = 8;
/** In one request. */
const SOURCE_RANGE_BLOCKS = 256;
/** Limits how long the claim is held at a fixed rate. */
const SOURCE_RANGE_SECONDS = 8;
/** Until a second upstream is asked again. */
const ALONE_MS = 60_000;
const DOUBT_AFTER_MS = 1_000;
const DOUBT_MAX_MS = 3_600_000;

export async function prove(settings: ProverOptions, signal: AbortSignal): Promise<void> {
  if (settings.rate === 0) return;
  const pace = createProverPace(settings.clock, settings.rate);
  const signs = createProverLoadSignals(settings);
  const skipped = new Set<number>();
  const settleDoubt = createDoubts(settings);
  // Whole blocks are proven when they are read.
  const datasets = settings.datasets.filter((dataset) => deepestPart(dataset, settings.chain) === 'logs');
  const names = new Set(datasets.map(({ name }) => name));
  const options = { ...settings, datasets };
  // Without a second upstream, only blocks below linked ones can be proven.
  let isAloneUntil = 0;
  while (!signal.aborted) {
    const coverage = await listCoverage(options.database, options.chain.id);
    const isAlone = options.clock.now() < isAloneUntil;
    const links = isAlone ? linkedBlocks(coverage) : null;
    if (await settleDoubt(coverage, pace.rangeBlocks, signal)) continue;
    if (options.isFilling()) {
      options.onRate(null);
      await options.clock.sleep(options.idleMs, signal);
      continue;
    }
    const unproven = coverage.filter(
      ({ proof, dataset, range }) => proof === 'none' && names.has(dataset) && (links?.(range.to + 1) ?? true),
    );
    const range = sourceRange(options, unproven, skipped) ?? newestRange(unproven, skipped, pace.rangeBlocks);
    if (range === null) {
      options.onRate(null);
      if (options.finished()) return;
      skipped.clear();
      await options.clock.sleep(options.idleMs, signal);
      continue;
    }
    pace.begin();
    // A source limits itself; a fixed rate is for all.
    const turn: ReadingTurn = async (stopped, from) => {
      if (from === 'node' || options.rate !== 'auto') await pace.turn(stopped);
    };
    const outcome = await proveRange({ ...options, turn }, range, signal);
    if (outcome === null || outcome === 'unlinked') skipped.add(range.to);
    if (outcome === 'unlinked') isAloneUntil = options.clock.now() + ALONE_MS;
    pace.end(signs());
    options.onRate(pace.rate);
  }
}

/**
 * Proves logs by whole blocks that a backfill read for other datasets and has committed, without a call. Rejects only
 * for `signal`: the prover reads again what could not be proven.
 *
 * @param read decoded for all datasets of `options`
 */
export async function proveRead(options: VerifyOptions, read: DecodedRange, signal: AbortSignal): Promise<void> {
  const { chain, database, datasets } = options;
  // The rows of a block that was left out would be removed.
  if (read.blocks.size < rangeSize(read.range)) return;
  const coverage = await listCoverage(database, chain.id, read.range);
  const names = new Set(datasets.map(({ name }) => name));
  if (!coverage.some(({ proof, dataset }) => proof === 'none' && names.has(dataset))) return;
  const batch = { ...batchOf(read.batch, datasets), release: () => undefined };
  await proveRange(options, read.range, signal, verifyParts(options, [{ ...read, batch }]));
}

/** More blocks in one request than nodes serve; null: no source has them now. */
function sourceRange(
  { chain, sources, datasets, rate }: ProverOptions,
  coverage: readonly DatasetCoverage[],
  skipped: ReadonlySet<number>,
): BlockRange | null {
  if (sources === undefined || !mayReadFromSource(chain, partsOf(datasets, chain))) return null;
  const blocks = rate === 'auto' ? SOURCE_RANGE_BLOCKS : Math.ceil(rate * SOURCE_RANGE_SECONDS);
  const range = newestRange(coverage, skipped, Math.min(SOURCE_RANGE_BLOCKS, blocks));
  const reach = range === null ? null : sources.reach('blocks', range, 'newest-first');
  return reach !== null && reach.from === range?.from && reach.to === range.to ? range : null;
}

function newestRange(coverage: readonly DatasetCoverage[], skipped: ReadonlySet<number>, rangeBlocks: number) {
  for (const { range } of coverage.toSorted((a, b) => b.range.to - a.range.to))
    for (let to = range.to; to >= range.from; to -= rangeBlocks)
      if (!skipped.has(to)) return { from: Math.max(range.from, to - rangeBlocks + 1), to };
  return null;
}

/** Whether parent hashes, or a second upstream, tie a block to the chain. */
function linkedBlocks(coverage: readonly DatasetCoverage[]): (block: number) => boolean {
  const linked = mergeRanges(coverage.filter(({ proof }) => LINKED.has(proof)).map(({ range }) => range));
  return (block) => linked.some(({ from, to }) => from <= block && block <= to);
}

const LINKED: ReadonlySet<string> = new Set(['receipts', 'cross', 'not-applicable']);

/** The upstream was wrong, or the chain has its own form of roots, or nothing linked the blocks. The delay grows. */
function createDoubts(options: ProverOptions) {
  const { clock, chain } = options;
  const alike = Map.groupBy(options.datasets, (dataset) => deepestPart(dataset, chain));
  const works = [...alike.values()].map((datasets) => ({ datasets, tried: new Set<number>() }));
  const contradictions: ReadonlySet<string | null> = new Set(CONTRADICTIONS);
  let wait = DOUBT_AFTER_MS;
  let dueAt = clock.now();
  return async (coverage: readonly DatasetCoverage[], rangeBlocks: number, signal: AbortSignal) => {
    if (clock.now() < dueAt) return false;
    dueAt = clock.now() + wait;
    const isLinked = linkedBlocks(coverage);
    const contradicted = coverage.filter(
      ({ proof, reason, range }) =>
        (proof === 'unproven' && contradictions.has(reason)) || (proof === 'record' && isLinked(range.to + 1)),
    );
    for (const { datasets, tried } of works) {
      const own = contradicted.filter(({ dataset }) => datasets.some(({ name }) => name === dataset));
      const range = newestRange(own, tried, rangeBlocks);
      if (range === null) {
        tried.clear();
        continue;
      }
      tried.add(range.to);
      const isSettled = (await proveRange({ ...options, datasets }, range, signal)) === 'proven';
      wait = isSettled ? DOUBT_AFTER_MS : Math.min(wait * 2, DOUBT_MAX_MS);
      dueAt = clock.now() + (isSettled ? 0 : wait);
      return true;
    }
    return false;
  };
}

/** Null if they could not be proven now. */
async function proveRange(
  options: VerifyOptions,
  range: BlockRange,
  signal: AbortSignal,
  parts: AsyncIterable<VerifiedPart> = verifyRange(options, range, READS_IN_FLIGHT, signal),
): Promise<'proven' | 'contradicted' | 'unlinked' | null> {
  const { chain, owner, logger, metrics } = options;
  if (!(await owner.claim(chain.id, range, 'prover'))) return null;
  let isContradicted = false;
  let isWhole = true;
  try {
    for await (const part of parts) {
      metrics.blocks.inc({ chain: chain.key, kind: 'prove' }, rangeSize(part.range));
      if (part.proven.some(({ proof }) => proof === 'record')) {
        await owner.release(chain.id, range);
        return 'unlinked';
      }
      isContradicted ||= part.proven.some(({ proof }) => proof === 'unproven');
      // Blocks above the pool's limit have no level.
      isWhole &&= part.proven.reduce((sum, level) => sum + rangeSize(level.range), 0) === rangeSize(part.range);
      for (const { block, dataset, missing, surplus, upstream } of part.repairs)
        logger.warn(
          { chain: chain.key, block, dataset, missing, surplus, upstream },
          'Stored rows differed from the proven block and were repaired',
        );
    }
    if (isContradicted) return 'contradicted';
    return isWhole ? 'proven' : null;
  } catch (error) {
    await owner.release(chain.id, range);
    signal.throwIfAborted();
    const fields = { chain: chain.key, block_range: `${range.from}-${range.to}`, error: errorText(error) };
    logger[failureLevel(error)](fields, 'Range could not be proven now');
    return null;
  }
}
