import type { Chain } from '@chainstead/chains';
import type { ReadDatabase } from '@chainstead/db';
import {
  type BinReserves,
  type BlockBinChange,
  binsWithinTenth,
  createBinBook,
  createPoolPrincipal,
  firstUnsummedBinBlock,
  firstUnsummedBlock,
  type ManagedPool,
  type PoolId,
  readBinChanges,
  readBinReserves,
  readTickLiquidity,
  type TickLiquidity,
} from '@chainstead/markets/requests';
import { readBlockRuns } from '@chainstead/pages';
import type { PricePlace } from '../place/price-place.ts';
import { addBalanceBounds } from './balance-bounds.ts';
import { type LiquidityChange, type ReportedState, readLiquidityChanges } from './liquidity-in-range.ts';
import { type PoolHistory, type StoredPoolHistory, SWAPS_DATASET } from './pool-history.ts';
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
function nearStates(
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

/** Tokens of positions, without fees. Only pools whose liquidity changes are all indexed. */
export async function readPrincipals(
  database: ReadDatabase,
  chain: Chain,
  stored: readonly StoredPoolHistory[],
  { block, windowStart }: PricePlace,
): Promise<ReadonlyMap<PoolId, PoolHistory>> {
  const known = await readPositions(database, chain, stored, { start: windowStart, block });
  return new Map(
    known.map(({ pool, before, changes }) => {
      const states = principalStates(pool, before, changes, windowStart);
      return [pool.pool, { ...pool, states, depth: 'known' }];
    }),
  );
}

/** Liquidity before the first unsummed block of a span, then changes, oldest first. */
interface Positions<Pool> {
  readonly pool: Pool;
  readonly before: TickLiquidity;
  readonly changes: readonly LiquidityChange[];
}

/** Only pools whose changes since creation are all indexed. */
export async function readPositions<Pool extends ManagedPool>(
  database: ReadDatabase,
  chain: Chain,
  pools: readonly Pool[],
  { start, block }: { readonly start: number; readonly block: number },
): Promise<readonly Positions<Pool>[]> {
  if (pools.length === 0) return [];
  const run = (await readBlockRuns(database, chain.id, [SWAPS_DATASET], block)).get(SWAPS_DATASET);
  const sums = run === undefined ? null : await readTickLiquidity(database, chain, pools, start + 1);
  if (run === undefined || sums === null) return [];
  const known = pools.flatMap((pool, index) => {
    const before = sums[index];
    const isCovered = before !== undefined && before.createdAt !== null && before.createdAt >= run.firstBlock;
    return isCovered ? [{ pool, before }] : [];
  });
  const first = firstUnsummedBlock(start + 1);
  const spans = known.map(({ pool: { pool } }) => ({ pool, first, last: block }));
  const changes = await readLiquidityChanges(database, chain, spans);
  return known.map((positions, index) => ({ ...positions, changes: changes[index] ?? [] }));
}

/** The first state is the window's start. @param changes after those in `before`, oldest first */
function principalStates(
  { states }: Pick<StoredPoolHistory, 'states'>,
  before: Pick<TickLiquidity, 'ticks'>,
  changes: readonly LiquidityChange[],
  windowStart: number,
): readonly StateSince[] {
  if (states.some(({ state }) => state.of !== 'price')) return [];
  const principal = createPoolPrincipal([
    ...before.ticks.map(({ tick }) => tick),
    ...changes.flatMap(({ tickLower, tickUpper }) => [tickLower, tickUpper]),
  ]);
  for (const tick of before.ticks) principal.change(tick);
  return replayStates(states, changes, windowStart, {
    apply({ tickLower, tickUpper, liquidityDelta }) {
      principal.change({ tick: tickLower, net: liquidityDelta });
      principal.change({ tick: tickUpper, net: -liquidityDelta });
    },
    at(state) {
      if (state.of !== 'price') return { state, balances: [null, null] };
      const { liquidity, amounts } = principal.at(state);
      return { state: { ...state, liquidity }, balances: amounts };
    },
  });
}

type BlockTime = Pick<StateSince, 'block' | 'since'>;

interface ReplayedPool<Change> {
  apply(change: Change): void;
  at(state: StateSince['state']): Pick<StateSince, 'state' | 'balances'>;
}

/** At the end of blocks. The first state has all changes until the window's start. */
function replayStates<Change extends BlockTime>(
  [first, ...rest]: readonly ReportedState[],
  changes: readonly Change[],
  windowStart: number,
  pool: ReplayedPool<Change>,
): readonly StateSince[] {
  if (first === undefined) return [];
  let { state } = first;
  const found: StateSince[] = [];
  const put = ({ block, since }: BlockTime): void => {
    if (found.at(-1)?.block === block) found.pop();
    found.push({ block, since, ...pool.at(state) });
  };
  const start = Math.max(windowStart, first.block);
  for (const change of changes) if (change.block <= start) pool.apply(change);
  put(first);
  const later = changes
    .filter(({ block }) => block > start)
    .map((change) => ({ time: change as BlockTime, change }));
  const moves = rest.map((move) => ({ time: move as BlockTime, move }));
  for (const event of [...moves, ...later].toSorted((a, b) => a.time.block - b.time.block)) {
    if ('move' in event) state = event.move.state;
    else pool.apply(event.change);
    put(event.time);
  }
  return found;
}
