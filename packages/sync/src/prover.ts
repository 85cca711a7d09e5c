/**
 * Raises what the backfill covered fast to the level `receipts`, in the background: newest first, at the pace that the
 * upstreams allow (`prover-pace.ts`), one claimed stretch after another.
 */
import { type BlockRange, type Clock, errorText, type Logger, rangeSize } from '@chainstead/core';
import { failureLevel } from '@chainstead/db';
import { type DatasetCoverage, listCoverage } from './coverage.ts';
import { createProverPace } from './prover-pace.ts';
import { createStretchSigns } from './stretch-signs.ts';
import { type VerifyOptions, type VerifyResult, verifyRange } from './verify-range.ts';
import { deepestPart } from './whole-block.ts';

export interface ProverOptions extends VerifyOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Blocks a second at most, auto: what the upstreams allow; 0 turns the prover off. */
  readonly rate: number | 'auto';
  /** Whether the follower is behind. */
  isBehind(): boolean;
  /** Whether history is still being read. */
  isFilling(): boolean;
  /** Told how many blocks a second there are; null while there is nothing to prove. */
  onRate(blocksPerSecond: number | null): void;
  /** Look again for unproven ranges after so many milliseconds without any. */
  readonly idleMs: number;
  /** True once nothing more will be covered: the prover ends when it has been through everything. */
  finished(): boolean;
}

const READS_IN_FLIGHT = 8;
/** As answers have it that leave such blocks out of what is complete (packages/answers/src/block-span.ts). */
const CONTRADICTIONS: ReadonlySet<string | null> = new Set(['root-mismatch', 'receipt-count']);
const DOUBT_AFTER_MS = 1_000;
const DOUBT_MAX_MS = 3_600_000;

/** Runs until the signal aborts, or until it is through with a finished chain. A range that can't be proven now is logged and left for the next round. */
export async function prove(given: ProverOptions, signal: AbortSignal): Promise<void> {
  if (given.rate === 0) return;
  const pace = createProverPace({ clock: given.clock, limit: given.rate });
  const signs = createStretchSigns(given);
  const skipped = new Set<number>();
  const doubts = createDoubts(given);
  // What is read whole is proven when it is read.
  const datasets = given.datasets.filter((dataset) => deepestPart(dataset, given.chain) === 'logs');
  const options = { ...given, datasets };
  while (!signal.aborted) {
    if (await doubts.settleNext(pace.stretchBlocks, signal)) continue;
    const range = await nextUnproven(options, skipped, pace.stretchBlocks);
    if (range === null) {
      options.onRate(null);
      if (options.finished()) return;
      skipped.clear();
      await options.clock.sleep(options.idleMs, signal);
      continue;
    }
    pace.begin();
    const turn = (stopped: AbortSignal): Promise<void> => pace.turn(stopped);
    if ((await proveStretch({ ...options, turn }, range, signal)) === null) skipped.add(range.to);
    pace.end(signs());
    options.onRate(pace.rate);
  }
}

/** The newest stretch that is covered but not proven, for all datasets at once. */
async function nextUnproven(
  options: ProverOptions,
  skipped: ReadonlySet<number>,
  stretchBlocks: number,
): Promise<BlockRange | null> {
  const coverage = await listCoverage(options.database, options.chain.id);
  return newestStretch(
    coverage.filter((one) => one.proof === 'none' && options.datasets.some((dataset) => dataset.name === one.dataset)),
    skipped,
    stretchBlocks,
  );
}

function newestStretch(
  coverage: readonly DatasetCoverage[],
  skipped: ReadonlySet<number>,
  stretchBlocks: number,
): BlockRange | null {
  for (const { range } of coverage.toSorted((a, b) => b.range.to - a.range.to))
    for (let to = range.to; to >= range.from; to -= stretchBlocks)
      if (!skipped.has(to)) return { from: Math.max(range.from, to - stretchBlocks + 1), to };
  return null;
}

/** Blocks that were stored although they contradict their headers. */
interface Doubts {
  /** Tries to prove the next stretch of them, if one is due. @returns whether it did */
  settleNext(stretchBlocks: number, signal: AbortSignal): Promise<boolean>;
}

/** The upstream may have been wrong for a moment, or the chain's roots are of a form of its own: after each try that proves nothing the next one is later. */
function createDoubts(options: ProverOptions): Doubts {
  const { clock, chain, database } = options;
  // Those that are read alike, as `verifyRanges` has it.
  const alike = Map.groupBy(options.datasets, (dataset) => deepestPart(dataset, chain));
  const works = [...alike.values()].map((datasets) => ({ datasets, tried: new Set<number>() }));
  let wait = DOUBT_AFTER_MS;
  let dueAt = clock.now();
  return {
    async settleNext(stretchBlocks, signal) {
      if (clock.now() < dueAt) return false;
      dueAt = clock.now() + wait;
      const contradicted = (await listCoverage(database, chain.id)).filter(
        ({ proof, reason }) => proof === 'unproven' && CONTRADICTIONS.has(reason),
      );
      for (const { datasets, tried } of works) {
        const own = contradicted.filter(({ dataset }) => datasets.some(({ name }) => name === dataset));
        const range = newestStretch(own, tried, stretchBlocks);
        if (range === null) {
          tried.clear();
          continue;
        }
        tried.add(range.to);
        const levels = await proveStretch({ ...options, datasets }, range, signal);
        const isSettled = levels !== null && (levels.unproven ?? 0) === 0;
        wait = isSettled ? DOUBT_AFTER_MS : Math.min(wait * 2, DOUBT_MAX_MS);
        dueAt = clock.now() + (isSettled ? 0 : wait);
        return true;
      }
      return false;
    },
  };
}

/** @returns blocks by the level that they reached; null where they could not be proven now */
async function proveStretch(
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
