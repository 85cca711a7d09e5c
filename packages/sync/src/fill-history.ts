/**
 * What an ingest process backfills: everything below the first followed block and, where a dataset has been added since,
 * the blocks that were followed without it, as soon as they are settled.
 */
import { type BlockRange, subtractRanges } from '@chainstead/core';
import { type BackfillOptions, type BackfillProgress, backfill } from './backfill.ts';
import type { ChainState } from './checkpoint.ts';
import { listCoverage, missingCoverage } from './coverage.ts';
import { readSettledHeight } from './settled-height.ts';

/** Between two looks at whether followed blocks have settled. */
const SETTLED_POLL_MS = 5_000;

export interface FillOptions extends BackfillOptions {
  readonly endBlock: number | null;
}

/** Resolves when all that was not covered when it began is covered. */
export async function fillHistory(options: FillOptions, state: ChainState, signal: AbortSignal): Promise<void> {
  const { chain, pool, clock } = options;
  await fill(options, historyOf(options, state), signal);
  let left = await followedWithout(options, state);
  while (left.length > 0) {
    const open = subtractRanges(left, [{ from: 0, to: await readSettledHeight(pool, chain) }]);
    await fill(options, subtractRanges(left, open), signal);
    left = open;
    if (left.length > 0) await clock.sleep(SETTLED_POLL_MS, signal);
  }
}

async function fill(options: FillOptions, ranges: readonly BlockRange[], signal: AbortSignal): Promise<void> {
  const { chain, logger } = options;
  const done: BackfillProgress = await backfill(options, ranges, signal);
  const [first, last] = [ranges[0], ranges.at(-1)];
  if (done.total > 0 && first !== undefined && last !== undefined)
    logger.info({ chain: chain.key, block_range: `${first.from}-${last.to}`, logs: done.logs }, 'Backfill complete');
}

/** Nothing, or one range. */
function historyOf({ chain, endBlock }: FillOptions, state: ChainState): BlockRange[] {
  const from = Math.max(state.historyStart, chain.firstBlock);
  const to = Math.min(state.firstFollowed - 1, endBlock ?? Number.MAX_SAFE_INTEGER);
  return from <= to ? [{ from, to }] : [];
}

/** Blocks at or below the checkpoint that lack a dataset. */
async function followedWithout(
  { chain, database, datasets }: FillOptions,
  { firstFollowed, checkpoint }: ChainState,
): Promise<BlockRange[]> {
  if (checkpoint === null) return [];
  const coverage = await listCoverage(database, chain.id);
  const names = datasets.map(({ name }) => name);
  return missingCoverage({ from: firstFollowed, to: checkpoint.number }, names, coverage).map(({ range }) => range);
}
