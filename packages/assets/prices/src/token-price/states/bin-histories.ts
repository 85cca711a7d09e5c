import type { Chain } from '@chainstead/chains';
import type { ReadDatabase } from '@chainstead/db';
import {
  type BinReserves,
  type BlockBinChange,
  binsWithinTenth,
  createBinBook,
  firstUnsummedBinBlock,
  readBinChanges,
  readBinReserves,
} from '@chainstead/markets/requests';
import { readBlockRuns } from '@chainstead/pages';
import type { PricePlace } from '../place/price-place.ts';
import { addBalanceBounds } from './balance-bounds.ts';
import type { PoolHistory, StoredPoolHistory } from './pool-history.ts';
import { replayStates } from './replay-states.ts';
import type { StateSince } from './side-depths.ts';

const BINS_DATASET = 'bin-changes';

/** Depth is unknown unless every change since creation is indexed. Seven statements at most. */
export async function readBinHistories(
  database: ReadDatabase,
  chain: Chain,
  stored: readonly StoredPoolHistory[],
  place: PricePlace,
): Promise<readonly PoolHistory[]> {
  if (stored.length === 0) return [];
  const { block, windowStart } = place;
  const run = (await readBlockRuns(database, chain.id, [BINS_DATASET], block)).get(BINS_DATASET);
  const ranged = stored.map((pool) => ({ pool, range: rangeOf(pool) }));
  const ranges = ranged.map(({ range }) => range);
  const sums = run === undefined ? null : await readBinReserves(database, chain, ranges, windowStart + 1);
  const firstBlock = run?.firstBlock ?? Infinity;
  const known = ranged.flatMap(({ pool, range }, position) => {
    const before = sums?.[position];
    const isCovered = before !== undefined && before.createdAt !== null && before.createdAt >= firstBlock;
    return isCovered ? [{ pool, range, before }] : [];
  });
  const span = { first: firstUnsummedBinBlock(windowStart + 1), last: block };
  const knownRanges = known.map(({ range }) => range);
  const changes = await readBinChanges(database, chain, knownRanges, span);
  const found = known.map(({ pool, before }, position): PoolHistory => {
    const states = nearStates(pool, before, changes[position] ?? [], windowStart);
    return { ...pool, states, depth: 'known' };
  });
  const ofKnown = new Set(known.map(({ pool }) => pool));
  const unknown = stored.filter((pool) => !ofKnown.has(pool)).map(withoutDepth);
  return [...found, ...(await addBalanceBounds(database, chain, unknown, place))];
}

export function hasBins({ states: [first] }: StoredPoolHistory): boolean {
  return first?.state.of === 'bin';
}

function withoutDepth(pool: StoredPoolHistory): PoolHistory {
  const balances: StateSince['balances'] = [null, null];
  const states = pool.states.map(({ block, since, state }) => ({ block, since, state, balances }));
  return { ...pool, states, depth: 'uncovered' };
}

function rangeOf({ pool, factory, tickSpacing, states }: StoredPoolHistory) {
  const active = states.flatMap(({ state }) => (state.of === 'bin' ? [state.activeId] : []));
  const reach = binsWithinTenth(tickSpacing ?? 0);
  return { pool, factory, lowest: Math.min(...active) - reach, highest: Math.max(...active) + reach };
}

/** Tokens that a 10 % move takes. @param changes after those that `before` counts, oldest first */
export function nearStates(
  { states, tickSpacing }: Pick<StoredPoolHistory, 'states' | 'tickSpacing'>,
  before: Pick<BinReserves, 'bins'>,
  changes: readonly BlockBinChange[],
  windowStart: number,
): readonly StateSince[] {
  const reach = binsWithinTenth(tickSpacing ?? 0);
  const book = createBinBook([...before.bins, ...changes].map(({ bin }) => bin));
  for (const bin of before.bins) book.change(bin);
  return replayStates(states, changes, windowStart, {
    apply: (change) => book.change(change),
    at: (state) => ({ state, balances: state.of === 'bin' ? book.near(state.activeId, reach) : [null, null] }),
  });
}
