import type { Chain } from '@chainstead/chains';
import type { ReadDatabase } from '@chainstead/db';
import {
  createPoolPrincipal,
  firstUnsummedBlock,
  type ManagedPool,
  type PoolId,
  readTickLiquidity,
  type TickLiquidity,
} from '@chainstead/markets/requests';
import { readBlockRuns } from '@chainstead/pages';
import type { PricePlace } from '../place/price-place.ts';
import { type LiquidityChange, readLiquidityChanges } from './liquidity-in-range.ts';
import { type PoolHistory, type StoredPoolHistory, SWAPS_DATASET } from './pool-history.ts';
import { replayStates } from './replay-states.ts';
import type { StateSince } from './side-depths.ts';

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
export function principalStates(
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
