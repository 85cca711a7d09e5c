/**
 * Raises fast backfilled blocks to the level `receipts` in the background: newest first, at the rate that the upstreams
 * allow (`prover-pace.ts`), one claimed span after another.
 */
import { type BlockRange, type Clock, errorText, type Logger, rangeSize } from '@chainstead/core';
import { failureLevel } from '@chainstead/db';
import { CONTRADICTIONS, type DatasetCoverage, listCoverage } from '../coverage/coverage.ts';
import { deepestPart } from '../dataset/deepest-part.ts';
import { createProverLoadSignals } from './prover-load-signals.ts';
import { createProverPace } from './prover-pace.ts';
import { type VerifyOptions, type VerifyResult, verifyRange } from './verify-range.ts';

export interface ProverOptions extends VerifyOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Maximum blocks per second; auto: as many as the upstreams allow; 0: off. */
  readonly rate: number | 'auto';
  isBehind(): boolean;
  /** Returns whether historical blocks are still being backfilled. */
  isFilling(): boolean;
  /** Called with the current blocks per second; null while there is nothing to prove. */
  onRate(blocksPerSecond: number | null): void;
  /** Milliseconds between checks for unproven ranges while there are none. */
  readonly idleMs: number;
  /** Returns true once no more blocks will be covered: the prover then ends after one complete round. */
  finished(): boolean;
}

const READS_IN_FLIGHT = 8;
const DOUBT_AFTER_MS = 1_000;
const DOUBT_MAX_MS = 3_600_000;

/**
 * Runs until the signal aborts, or until a finished chain is proven. A range that can't be proven now is logged and
 * left for the next round.
 */
export async function prove(given: ProverOptions, signal: AbortSignal): Promise<void> {
  if (given.rate === 0) return;
  const pace = createProverPace({ clock: given.clock, limit: given.rate });
  const signs = createProverLoadSignals(given);
  const skipped = new Set<number>();
  const doubts = createDoubts(given);
  // Whole blocks are proven when they are read.
  const datasets = given.datasets.filter((dataset) => deepestPart(dataset, given.chain) === 'logs');
  const options = { ...given, datasets };
  while (!signal.aborted) {
    const coverage = await listCoverage(options.database, options.chain.id);
    if (await doubts.settleNext(coverage, pace.rangeBlocks, signal)) continue;
    const range = nextUnproven(options, coverage, skipped, pace.rangeBlocks);
    if (range === null) {
      options.onRate(null);
      if (options.finished()) return;
      skipped.clear();
      await options.clock.sleep(options.idleMs, signal);
      continue;
    }
    pace.begin();
    const turn = (stopped: AbortSignal): Promise<void> => pace.turn(stopped);
    if ((await proveRange({ ...options, turn }, range, signal)) === null) skipped.add(range.to);
    pace.end(signs());
    options.onRate(pace.rate);
  }
}

/** Returns the newest covered span that is unproven for any dataset. */
function nextUnproven(
  options: ProverOptions,
  coverage: readonly DatasetCoverage[],
  skipped: ReadonlySet<number>,
  rangeBlocks: number,
): BlockRange | null {
  return newestRange(
    coverage.filter((one) => one.proof === 'none' && options.datasets.some((dataset) => dataset.name === one.dataset)),
    skipped,
    rangeBlocks,
  );
}

function newestRange(
  coverage: readonly DatasetCoverage[],
  skipped: ReadonlySet<number>,
  rangeBlocks: number,
): BlockRange | null {
  for (const { range } of coverage.toSorted((a, b) => b.range.to - a.range.to))
    for (let to = range.to; to >= range.from; to -= rangeBlocks)
      if (!skipped.has(to)) return { from: Math.max(range.from, to - rangeBlocks + 1), to };
  return null;
}

/** Blocks stored although they contradict their headers. */
interface Doubts {
  /** Tries to prove the next span of such blocks if one is due. @returns whether it tried */
  settleNext(coverage: readonly DatasetCoverage[], rangeBlocks: number, signal: AbortSignal): Promise<boolean>;
}

/**
 * The upstream may have been wrong briefly, or the chain has its own form of roots: the delay grows after each failed
 * attempt.
 */
function createDoubts(options: ProverOptions): Doubts {
  const { clock, chain } = options;
  // Grouped by the part they read, as `verifyRanges` does.
  const alike = Map.groupBy(options.datasets, (dataset) => deepestPart(dataset, chain));
  const works = [...alike.values()].map((datasets) => ({ datasets, tried: new Set<number>() }));
  const contradictions: ReadonlySet<string | null> = new Set(CONTRADICTIONS);
  let wait = DOUBT_AFTER_MS;
  let dueAt = clock.now();
  return {
    async settleNext(coverage, rangeBlocks, signal) {
      if (clock.now() < dueAt) return false;
      dueAt = clock.now() + wait;
      const contradicted = coverage.filter(({ proof, reason }) => proof === 'unproven' && contradictions.has(reason));
      for (const { datasets, tried } of works) {
        const own = contradicted.filter(({ dataset }) => datasets.some(({ name }) => name === dataset));
        const range = newestRange(own, tried, rangeBlocks);
        if (range === null) {
          tried.clear();
          continue;
        }
        tried.add(range.to);
        const levels = await proveRange({ ...options, datasets }, range, signal);
        const isSettled = levels !== null && (levels.unproven ?? 0) === 0;
        wait = isSettled ? DOUBT_AFTER_MS : Math.min(wait * 2, DOUBT_MAX_MS);
        dueAt = clock.now() + (isSettled ? 0 : wait);
        return true;
      }
      return false;
    },
  };
}

/** @returns number of blocks per level; null if they could not be proven now */
async function proveRange(
  options: ProverOptions,
  range: BlockRange,
  signal: AbortSignal,
): Promise<VerifyResult['levels'] | null> {
  const { chain, owner, logger } = options;
  const block_range = `${range.from}-${range.to}`;
  if (!(await owner.claim(chain.id, range, 'prover'))) return null;
  try {
    const result = await verifyRange(options, range, READS_IN_FLIGHT, signal);
    options.metrics.blocks.inc({ chain: chain.key, kind: 'prove' }, rangeSize(range));
    logRepairs(options, result);
    return result.levels;
  } catch (error) {
    await owner.release(chain.id, range);
    signal.throwIfAborted();
    logger[failureLevel(error)](
      { chain: chain.key, block_range, error: errorText(error) },
      'Range could not be proven now',
    );
    return null;
  }
}

function logRepairs({ logger, chain }: ProverOptions, result: VerifyResult): void {
  for (const repair of result.repairs)
    logger.warn(
      {
        chain: chain.key,
        block: repair.block,
        dataset: repair.dataset,
        missing: repair.missing,
        surplus: repair.surplus,
        upstream: repair.upstream,
      },
      'Stored rows differed from the proven block and were repaired',
    );
}
