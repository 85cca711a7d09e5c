/** Blocks that may be rolled back: filled under that lock, if they still have the hashes read. */
import {
  type BlockRange,
  errorText,
  intersectRanges,
  rangeSize,
  sleepUnlessAborted,
  subtractRanges,
} from '@chainstead/core';
import { type ChainState, readChainState } from '../checkpoint.ts';
import { createClaimOwner } from '../coverage/claims.ts';
import { missingCoverage } from '../coverage/coverage.ts';
import { listCoveredOrOld, readSettledHeight } from '../coverage/retained-from.ts';
import { datasetsOf } from '../dataset/datasets-of.ts';
import { deepestPart } from '../dataset/whole-block.ts';
import { ReorgedWhileReadingError } from '../errors.ts';
import { registerProjections } from '../projections/projection-record.ts';
import { type ChunkSizing, createChunkSizing } from '../read/chunk-size.ts';
import { createRereads } from '../read/rereads.ts';
import { createKnownContracts } from '../rows/known-contracts.ts';
import { backfill } from './backfill.ts';
import { commitRead, readClaimed } from './backfill-chunk.ts';
import type { BackfillOptions, BackfillProgress } from './backfill-options.ts';
import { type BackfillRange, chunksOf, planRanges } from './backfill-ranges.ts';

const SETTLED_POLL_MS = 5_000;
const GAP_POLL_MS = 30_000;
const UNAVAILABLE_POLL_MS = 300_000;

export interface FillOptions extends BackfillOptions {
  readonly endBlock: number | null;
  /** Called by {@link fillGaps}. */
  onFilling?(isFilling: boolean): void;
}

/** Resolves when all blocks that were missing at the start are covered. */
export async function fillHistory(options: FillOptions, state: ChainState, signal: AbortSignal): Promise<void> {
  const { chain, pool, clock } = options;
  const from = Math.max(state.historyStart, chain.firstBlock);
  const to = Math.min(state.firstFollowed - 1, options.endBlock ?? Number.MAX_SAFE_INTEGER);
  await fill(options, from <= to ? [{ from, to }] : [], signal);
  await fillEarlier(options, state, signal);
  let left = await followedWithout(options, state);
  while (left.length > 0) {
    const open = subtractRanges(left, [{ from: 0, to: await readSettledHeight(pool, chain) }]);
    await fill(options, subtractRanges(left, open), signal);
    await fillUnsettled(options, open, signal);
    // Blocks rolled back since then are followed again with all datasets.
    const checkpoint = (await readChainState(options.database, chain.id))?.checkpoint ?? null;
    const isLower = (checkpoint?.number ?? -1) < (state.checkpoint?.number ?? -1);
    left = intersectRanges(await followedWithout(options, isLower ? { ...state, checkpoint } : state), open);
    if (left.length > 0) await clock.sleep(SETTLED_POLL_MS, signal);
  }
}

export async function fillGaps(settings: FillOptions, signal: AbortSignal): Promise<void> {
  const { chain, clock, database, logger, pool } = settings;
  const datasets = settings.datasets.filter((dataset) => deepestPart(dataset, chain) !== 'logs');
  if (datasets.length === 0) return;
  const options = { ...settings, datasets };
  for (let delayMs = GAP_POLL_MS; ; ) {
    await sleepUnlessAborted(clock, delayMs, signal);
    if (signal.aborted) return;
    delayMs = GAP_POLL_MS;
    settings.onFilling?.(true);
    try {
      const state = await readChainState(database, chain.id);
      if (state === null || state.checkpoint === null) continue;
      const to = Math.min(state.checkpoint.number, await readSettledHeight(pool, chain));
      const from = Math.max(state.historyStart, chain.firstBlock);
      if (from <= to && !(await fill(options, [{ from, to }], signal))) delayMs = UNAVAILABLE_POLL_MS;
    } catch (error) {
      if (signal.aborted) return;
      logger.warn(
        { chain: chain.key, error: errorText(error) },
        'Gaps could not be filled, they are looked at again',
      );
    } finally {
      settings.onFilling?.(false);
    }
  }
}

/** False if something could not be read. */
async function fill(options: FillOptions, ranges: readonly BlockRange[], signal: AbortSignal): Promise<boolean> {
  const { chain, logger } = options;
  const done: BackfillProgress = await backfill(options, ranges, signal);
  const [first, last] = [ranges[0], ranges.at(-1)];
  if (done.total > 0 && first !== undefined && last !== undefined)
    logger.info(
      { chain: chain.key, block_range: `${first.from}-${last.to}`, logs: done.logs },
      'Backfill complete',
    );
  if (done.unavailable !== null)
    logger.error({ chain: chain.key, code: done.unavailable.code }, done.unavailable.message);
  return done.unavailable === null;
}

async function fillEarlier(options: FillOptions, state: ChainState, signal: AbortSignal): Promise<void> {
  const { chain } = options;
  const to = Math.max(state.historyStart, chain.firstBlock) - 1;
  const firstOf = ({ firstBlock }: FillOptions['datasets'][number]): number => firstBlock?.(chain) ?? to + 1;
  const datasets = options.datasets.filter((dataset) => firstOf(dataset) <= to);
  if (datasets.length === 0) return;
  const from = Math.max(chain.firstBlock, Math.min(...datasets.map(firstOf)));
  await fill({ ...options, datasets }, [{ from, to }], signal);
}

async function followedWithout(
  { chain, database, datasets, retention }: FillOptions,
  { firstFollowed, checkpoint }: ChainState,
): Promise<BlockRange[]> {
  if (checkpoint === null) return [];
  const coverage = await listCoveredOrOld(database, { chain, datasets, retention });
  const names = datasets.map(({ name }) => name);
  return missingCoverage({ from: firstFollowed, to: checkpoint.number }, names, coverage).map(
    ({ range }) => range,
  );
}

type HelpOptions = Omit<BackfillOptions, 'owner' | 'knownContracts' | 'kind' | 'purpose'>;

type PlannedHelp = Pick<HelpOptions, 'chain' | 'database' | 'datasets' | 'retention' | 'order' | 'proof'>;

const HELPED_BLOCKS_MIN = 100;

export async function helpBackfill(
  help: HelpOptions,
  ranges: readonly BlockRange[],
  signal: AbortSignal,
): Promise<BackfillProgress> {
  const datasets = datasetsOf(help.chain, help.datasets);
  await registerProjections(help.database, help.chain, datasets);
  const owner = await createClaimOwner(help.database);
  const database = help.database.until(owner.lost);
  const knownContracts = createKnownContracts();
  try {
    const options = { ...help, database, datasets, owner, knownContracts, kind: 'add', purpose: 'help' } as const;
    return await backfill(options, ranges, signal);
  } finally {
    await owner.close();
  }
}

/** None if few blocks are left. */
export async function readHelpable(help: PlannedHelp, endBlock: number | null): Promise<readonly BlockRange[]> {
  const { chain, database } = help;
  const state = await readChainState(database, chain.id);
  if (state === null) return [];
  const { firstFollowed, checkpoint, historyStart } = state;
  const from = Math.max(historyStart, chain.firstBlock);
  // Settled blocks followed without a dataset count too.
  const settled = checkpoint === null ? -1 : checkpoint.number - chain.reorgDepthMax;
  const to = Math.min(Math.max(firstFollowed - 1, settled), endBlock ?? Number.MAX_SAFE_INTEGER);
  if (from > to) return [];
  const datasets = datasetsOf(chain, help.datasets);
  const left = await planRanges({ ...help, datasets, kind: 'add' }, [{ from, to }]);
  return left.reduce((sum, { range }) => sum + rangeSize(range), 0) < HELPED_BLOCKS_MIN ? [] : [{ from, to }];
}

/** Small: the follower waits for the commit. */
const CHUNK = { logsPerChunk: 2_000, blocksFirst: 8, blocksMax: 64 } as const;

/** One try per block: failed or abandoned ones still lack the dataset. */
async function fillUnsettled(settings: BackfillOptions, ranges: readonly BlockRange[], signal: AbortSignal) {
  if (ranges.length === 0) return;
  // Filtered logs do not show the hashes of blocks without logs.
  const options = {
    ...settings,
    rereads: createRereads(settings.clock),
    proof: 'receipts',
    isUnsettled: true,
  } as const;
  const sizing = createChunkSizing(CHUNK);
  for (const span of await planRanges(options, ranges))
    for (const range of chunksOf(options, span.range, sizing))
      await tryChunk(options, span, range, sizing, signal);
}

async function tryChunk(
  options: BackfillOptions,
  span: BackfillRange,
  range: BlockRange,
  sizing: ChunkSizing,
  signal: AbortSignal,
): Promise<void> {
  const { chain, logger, owner } = options;
  try {
    const read = await readClaimed(options, span, range, sizing, signal);
    if (read !== null) await commitRead(options, span, read, signal);
  } catch (error) {
    signal.throwIfAborted();
    const fields = { chain: chain.key, block_range: `${range.from}-${range.to}`, error: errorText(error) };
    logger[error instanceof ReorgedWhileReadingError ? 'debug' : 'warn'](
      fields,
      'Blocks that a reorg may replace could not be filled, they are tried again',
    );
    await owner.release(chain.id, range);
  }
}
