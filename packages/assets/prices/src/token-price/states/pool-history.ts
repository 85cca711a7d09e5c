import type { BalanceSeries } from '@chainstead/erc20/requests';
import type { PoolOfToken } from '../pools/hop-pools.ts';
import type { ReportedState } from './liquidity-in-range.ts';
import type { Sides, StateSince } from './side-depths.ts';

export interface PoolHistory extends PoolOfToken {
  /** Oldest first, never empty. */
  readonly states: readonly StateSince[];
  readonly changedAt: Pick<StateSince, 'block' | 'since'>;
  /** Unix seconds of creation or first event; null: unknown. */
  readonly createdAt: number | null;
  /** Block of the contract calls for the first state; null: from an event. */
  readonly readAt: number | null;
  readonly depth: DepthSource;
  /** Base units in all bins of a pair whose depth is unknown; null: unknown. */
  readonly balanceMax?: Sides<bigint | null>;
}

export type StoredPoolHistory = Omit<PoolHistory, 'states' | 'depth'> & {
  readonly states: readonly ReportedState[];
};

export const SWAPS_DATASET = 'swaps';

/** `moved`: the next contract read makes it known. `uncovered`: changes are not all indexed. */
type DepthSource = 'known' | 'old' | 'unread' | 'moved' | 'uncovered';

type PoolStates = PoolOfToken & { readonly states: readonly StateSince[] };

export function addBalances(states: readonly StateSince[], series: Sides<BalanceSeries>): readonly StateSince[] {
  const [first, ...rest] = states;
  if (first === undefined) return [];
  // Without one of them the depth is zero on that side, and the pool has no say.
  const [left, right] = series;
  if (left.of !== 'known' || right.of !== 'known') return states;
  const found: StateSince[] = [];
  let state = first;
  let balances: Sides<bigint> = [left.before, right.before];
  const put = ({ block, since }: Pick<StateSince, 'block' | 'since'>): void => {
    if (found.at(-1)?.block === block) found.pop();
    found.push({ block, since, state: state.state, balances });
  };
  put(first);
  const events = [
    ...rest.map((next) => ({ ...next, apply: () => (state = next) })),
    ...left.changes.map((change) => ({ ...change, apply: () => (balances = [change.balance, balances[1]]) })),
    ...right.changes.map((change) => ({ ...change, apply: () => (balances = [balances[0], change.balance]) })),
  ].toSorted((a, b) => a.block - b.block);
  for (const event of events) {
    event.apply();
    put(event.block < first.block ? first : event);
  }
  return found;
}

export function depthSourceOf(series: Sides<BalanceSeries>): DepthSource {
  const kinds = series.map(({ of }) => of);
  if (kinds.includes('live')) return 'known';
  for (const kind of ['uncovered', 'unread', 'moved'] as const) if (kinds.includes(kind)) return kind;
  return series.some((side) => side.of === 'known' && side.isOld) ? 'old' : 'known';
}

export function isEverInRange({ states }: Pick<PoolStates, 'states'>): boolean {
  return states.some(({ state }) => state.of === 'price' && state.liquidity > 0n);
}

/** Known exchanges have far fewer pools of two tokens. */
const POOLS_MAX = 64;

/** For each two tokens: liquidity in range has one unit there. */
export function mostLiquid<Pool extends PoolStates>(pools: readonly Pool[]): readonly Pool[] {
  const byTokens = Map.groupBy(pools, ({ token0, token1 }) => `${token0} ${token1}`);
  return [...byTokens.values()].flatMap((alike) =>
    alike
      .toSorted((a, b) => {
        const difference = liquidityOf(b) - liquidityOf(a);
        if (difference !== 0n) return difference > 0n ? 1 : -1;
        return a.pool < b.pool ? -1 : 1;
      })
      .slice(0, POOLS_MAX),
  );
}

function liquidityOf({ states }: PoolStates): bigint {
  const state = states.at(-1)?.state;
  return state?.of === 'price' ? state.liquidity : 0n;
}
