import type { BalanceSeries } from '@chainstead/erc20';
import type { PoolOfToken } from '../pools/pools-of-token.ts';
import type { Sides, StateSince } from './side-depths.ts';

/**
 * Whether the depth of a pool is final. `unread`: a balance was not read yet, and a contract read makes it known. `moved`:
 * the next one does. `uncovered`: transfers
 * or liquidity changes are not indexed. Both count as no depth.
 */
export type DepthSource = 'known' | 'old' | 'unread' | 'moved' | 'uncovered';

type PoolStates = PoolOfToken & { readonly states: readonly StateSince[] };

/**
 * Adds balances to the states of a pool: one entry for each block that changes either. The first entry has the balances at the start of
 * the window.
 * @param states oldest first
 */
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
    ...rest.map((one) => ({ ...one, apply: () => (state = one) })),
    ...left.changes.map((one) => ({ ...one, apply: () => (balances = [one.balance, balances[1]]) })),
    ...right.changes.map((one) => ({ ...one, apply: () => (balances = [balances[0], one.balance]) })),
  ].toSorted((one, other) => one.block - other.block);
  for (const event of events) {
    event.apply();
    // Transfers before the pool's first state are part of it.
    put(event.block < first.block ? first : event);
  }
  return found;
}

/** A depth that is permanently zero is known. */
export function depthSourceOf(series: Sides<BalanceSeries>): DepthSource {
  const kinds = series.map(({ of }) => of);
  if (kinds.includes('live')) return 'known';
  if (kinds.includes('uncovered')) return 'uncovered';
  if (kinds.includes('unread')) return 'unread';
  if (kinds.includes('moved')) return 'moved';
  return series.some((one) => one.of === 'known' && one.isOld) ? 'old' : 'known';
}

/** Whether a pool of concentrated liquidity has a depth at any time of the window. */
export function isEverInRange({ states }: Pick<PoolStates, 'states'>): boolean {
  return states.some(({ state }) => state.of === 'price' && state.liquidity > 0n);
}

/** Known exchanges have far fewer pools of the same two tokens. */
const POOLS_MAX = 64;

/** Returns the pools of each two tokens that have the most liquidity in range. It has the same unit for all of them. */
export function mostLiquid<Pool extends PoolStates>(pools: readonly Pool[]): readonly Pool[] {
  const byTokens = Map.groupBy(pools, ({ token0, token1 }) => `${token0} ${token1}`);
  return [...byTokens.values()].flatMap((alike) =>
    alike
      .toSorted((one, other) => {
        const [own, others] = [liquidityOf(one), liquidityOf(other)];
        return own === others ? (one.pool < other.pool ? -1 : 1) : own > others ? -1 : 1;
      })
      .slice(0, POOLS_MAX),
  );
}

function liquidityOf({ states }: PoolStates): bigint {
  const state = states.at(-1)?.state;
  return state?.of === 'price' ? state.liquidity : 0n;
}
