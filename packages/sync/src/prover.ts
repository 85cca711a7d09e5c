/**
 * Raises what the backfill covered fast to the level `receipts`, in the background: newest first, at the pace that the
 * upstreams allow (`prover-pace.ts`), one claimed stretch after another.
 */
import { type BlockRange, type Clock, errorText, type Logger, rangeSize } from '@chainstead/core';
import { failureLevel } from '@chainstead/db';
import { listCoverage } from './coverage.ts';
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

/** Runs until the signal aborts, or until it is through with a finished chain. A range that can't be proven now is logged and left for the next round. */
export async function prove(given: ProverOptions, signal: AbortSignal): Promise<void> {
  if (given.rate === 0) return;
  const pace = createProverPace({ clock: given.clock, limit: given.rate });
  const signs = createStretchSigns(given);
  const skipped = new Set<number>();
  // What is read whole is proven when it is read.
  const datasets = given.datasets.filter((dataset) => deepestPart(dataset, given.chain) === 'logs');
  const options = { ...given, datasets };
  while (!signal.aborted) {
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
    if (!(await proveStretch({ ...options, turn }, range, signal))) skipped.add(range.to);
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
  const open = coverage
    .filter((one) => one.proof === 'none' && options.datasets.some((dataset) => dataset.name === one.dataset))
    .toSorted((a, b) => b.range.to - a.range.to);
  for (const { range } of open) {
    for (let to = range.to; to >= range.from; to -= stretchBlocks)
      if (!skipped.has(to)) return { from: Math.max(range.from, to - stretchBlocks + 1), to };
  }
  return null;
}

async function proveStretch(options: ProverOptions, range: BlockRange, signal: AbortSignal): Promise<boolean> {
  const { chain, owner, logger } = options;
  const block_range = `${range.from}-${range.to}`;
  if (!(await owner.claim(chain.id, range, 'prover'))) return false;
  try {
    const result = await verifyRange(options, range, READS_IN_FLIGHT, signal);
    options.metrics.blocks.inc({ chain: chain.key, kind: 'prove' }, rangeSize(range));
    logRepairs(options, result);
    return true;
  } catch (error) {
    await owner.release(chain.id, range);
    signal.throwIfAborted();
    logger[failureLevel(error)](
      { chain: chain.key, block_range, error: errorText(error) },
      'Range could not be proven now',
    );
    return false;
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
