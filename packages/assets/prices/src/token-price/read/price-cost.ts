import {
  type Address,
  addFractions,
  compareFractions,
  type Fraction,
  multiplyFractions,
  smallerFraction,
  wholeFraction,
} from '@chainstead/core';
import { type JudgedCandidate, newest } from '../decide/decide-price.ts';
import { virtualReserves } from '../states/side-depths.ts';
import { pricedWith, type TokenPrice } from './token-price.ts';

type PriceOfPools = Extract<TokenPrice, { of: 'pools' }>;

/** Null: no pool has a say. With hops, the smaller cost: the token's or a hop's. */
export function costOfPrice(price: PriceOfPools, anchors: ReadonlyMap<Address, Fraction>): MoveCost | null {
  const own = costOfPools(price, pricedWith(anchors, price));
  const counted = price.decision.candidates.filter(hasSay).map(({ pool }) => pool);
  const sides = new Set(
    price.pools.flatMap(({ history: { pool, token0, token1 } }) =>
      counted.includes(pool) ? [token0, token1] : [],
    ),
  );
  const ofHops = price.hops.flatMap((hop) => (sides.has(hop.token) ? [costOfPools(hop.price, anchors)] : []));
  return [own, ...ofHops].reduce((least, cost) => {
    if (least === null || cost === null) return least ?? cost;
    return compareFractions(cost.usd, least.usd) < 0 ? cost : least;
  });
}

function hasSay({ role }: Pick<JudgedCandidate, 'role'>): boolean {
  return role === 'chosen' || role === 'counted';
}

function costOfPools(
  { pools, decision }: PriceOfPools,
  dollars: ReadonlyMap<Address, Fraction>,
): MoveCost | null {
  const moved = decision.candidates.flatMap(({ pool, role, weight }): MovedPool[] => {
    const known = pools.find(({ history }) => history.pool === pool);
    const state = known?.history.states.at(-1);
    if (known === undefined || state === undefined || !hasSay({ role })) return [];
    const { history, candidate, decimals } = known;
    const anchorSide = dollars.has(history.token0) ? 0 : 1;
    const inDollars = (amount: Fraction, side: 0 | 1, usd: Fraction): Fraction =>
      multiplyFractions({ ...amount, denominator: amount.denominator * 10n ** BigInt(decimals[side]) }, usd);
    const anchorUsd = dollars.get(anchorSide === 0 ? history.token0 : history.token1) ?? wholeFraction(0n);
    const tokenSide = anchorSide === 0 ? 1 : 0;
    const anchorReserve = inDollars(virtualReserves(state.state)[anchorSide], anchorSide, anchorUsd);
    const balance = wholeFraction(state.balances[tokenSide] ?? 0n);
    const tokenBalance = inDollars(balance, tokenSide, newest(candidate.price));
    return [{ weight, anchorReserve, tokenBalance, isConcentrated: state.state.of !== 'reserves' }];
  });
  return moveCost(moved);
}

/** US dollars. */
interface MovedPool {
  /** Say in the price: the lasting depth of the anchor's side. */
  readonly weight: Fraction;
  readonly anchorReserve: Fraction;
  /** The pool's tokens, at its current price. Bins: up to 10 % away. */
  readonly tokenBalance: Fraction;
  /** Liquidity beyond the range is unknown, and may be less. */
  readonly isConcentrated: boolean;
}

interface MoveCost {
  /** US dollars that must be paid into pools, and stay there while a jump has to hold. */
  readonly usd: Fraction;
  readonly isUpperBound: boolean;
}

/**
 * The cheapest pools with half of the weight move. Constant product: √1.1 − 1 of the anchor
 * reserve, at most the cost of all tokens. Null without pools.
 */
function moveCost(pools: readonly MovedPool[]): MoveCost | null {
  const total = pools.map(({ weight }) => weight).reduce(addFractions, ZERO);
  const byRatio = pools
    .map((pool) => {
      const [inPrice, inTokens] = [
        multiplyFractions(pool.anchorReserve, SHARE),
        multiplyFractions(pool.tokenBalance, RAISED),
      ];
      return { ...pool, cost: smallerFraction(inPrice, inTokens) };
    })
    .toSorted((a, b) =>
      compareFractions(multiplyFractions(a.cost, b.weight), multiplyFractions(b.cost, a.weight)),
    );
  let [weight, usd, isUpperBound] = [ZERO, ZERO, false];
  for (const pool of byRatio) {
    weight = addFractions(weight, pool.weight);
    usd = addFractions(usd, pool.cost);
    isUpperBound ||= pool.isConcentrated;
    if (compareFractions(addFractions(weight, weight), total) >= 0) return { usd, isUpperBound };
  }
  return null;
}

const SHARE: Fraction = { numerator: 48_808_848_170_151_546n, denominator: 10n ** 18n };

const RAISED: Fraction = { numerator: 11n, denominator: 10n };

const ZERO: Fraction = { numerator: 0n, denominator: 1n };
