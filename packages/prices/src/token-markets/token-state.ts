import type { Chain } from '@chainstead/chains';
import {
  type Address,
  addFractions,
  compareFractions,
  type Fraction,
  multiplyFractions,
  roundedUnits,
  smallerFraction,
  wholeFraction,
} from '@chainstead/core';
import { anchorsOf, DOLLAR, formsOf } from '@chainstead/markets';
import { anchorPrices } from '../token-price/anchor-prices.ts';
import type { PricePlace } from '../token-price/price-place.ts';
import { type PriceSources, readPricesWithBalances } from '../token-price/prices-with-balances.ts';
import { newest } from '../token-price/time-weighted.ts';
import {
  dollarsOf,
  isDepthKnown,
  otherAnchors,
  type PricedPool,
  pricedWith,
  type TokenPrice,
} from '../token-price/token-price.ts';

/** Price and liquidity of a token at the end of a block. */
export interface TokenState {
  /** US dollars per whole token, as in `getTokenPrice`; null: none. */
  readonly usd: Fraction | null;
  /** US dollars in both sides of all pools that are deep enough to have a say. */
  readonly liquidity: Fraction;
  /** US dollars on the anchor side of each pool with a known state, by pool. */
  readonly depths: ReadonlyMap<string, Fraction>;
  /** Whether no pool of unknown depth might change it. */
  readonly isFinal: boolean;
}

/** Returns the states of tokens at a place. An anchor has the price of its feed, and its pools against other anchors. */
export async function readTokenStates(
  sources: PriceSources,
  chain: Chain,
  tokens: readonly Address[],
  place: PricePlace,
): Promise<ReadonlyMap<Address, TokenState>> {
  const conditions = { factories: null, rules: chain.pricing, isOfPools: true };
  const prices = await readPricesWithBalances(sources, chain, tokens, conditions, place);
  const anchors = anchorPrices(place);
  const { dollar } = anchorsOf(chain);
  return new Map(
    [...prices].map(([token, price]) => {
      const usd = anchors.get(token) ?? (dollar.includes(token) ? null : dollarsOf(price));
      return [token, stateOf(price, usd, pricedWith(otherAnchors(anchors, formsOf(token, chain)), price))];
    }),
  );
}

function stateOf(price: TokenPrice, usd: Fraction | null, anchors: ReadonlyMap<Address, Fraction>): TokenState {
  const isFinal = isDepthKnown(price);
  if (price.of !== 'pools') return { usd, liquidity: NOTHING, depths: new Map(), isFinal };
  const roles = new Map(price.decision.candidates.map(({ pool, role }) => [pool, role]));
  const eligible = price.pools.filter(({ candidate }) =>
    ['chosen', 'counted'].includes(roles.get(candidate.pool) ?? ''),
  );
  return {
    usd,
    liquidity: eligible.map((pool) => liquidityOf(pool, anchors)).reduce(addFractions, NOTHING),
    depths: new Map(price.pools.map(({ candidate }) => [candidate.pool, newest(candidate.anchorDepth)])),
    isFinal,
  };
}

/** US dollars of the balances of both sides; 0 if one side is nearly empty (contract 2.1). */
function liquidityOf({ history, candidate, decimals }: PricedPool, anchors: ReadonlyMap<Address, Fraction>): Fraction {
  const balances = history.states.at(-1)?.balances ?? [null, null];
  const own = newest(candidate.price);
  const [one, other] = ([history.token0, history.token1] as const).map((token, side) => {
    const whole = { numerator: balances[side] ?? 0n, denominator: 10n ** BigInt(decimals[side] ?? 0) };
    return multiplyFractions(whole, anchors.get(token) ?? own);
  });
  if (one === undefined || other === undefined) return NOTHING;
  const sum = addFractions(one, other);
  const twiceSmaller = multiplyFractions(smallerFraction(one, other), wholeFraction(2n));
  const isSkewed = compareFractions(twiceSmaller, multiplyFractions(sum, SKEW_MIN)) < 0;
  return isSkewed ? NOTHING : { numerator: roundedUnits(sum, DOLLAR), denominator: DOLLAR };
}

const NOTHING: Fraction = { numerator: 0n, denominator: DOLLAR };
/** Twice the smaller side, as a share of both. */
const SKEW_MIN: Fraction = { numerator: 5n, denominator: 1_000n };
