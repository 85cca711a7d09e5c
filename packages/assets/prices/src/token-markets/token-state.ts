import type { Chain } from '@chainstead/chains';
import { type Address, addFractions, type Fraction, roundedUnits, wholeFraction } from '@chainstead/core';
import { anchorsOf, DOLLAR, formsOf } from '@chainstead/markets/requests';
import { liquidityOf, skewOf, wholeTokens, worth } from '../pool-values/read-pool-values.ts';
import { newest } from '../token-price/decide/decide-price.ts';
import { anchorPrices } from '../token-price/place/anchor-prices.ts';
import type { PricePlace } from '../token-price/place/price-place.ts';
import { type PriceSources, readPricesWithBalances } from '../token-price/read/prices-with-balances.ts';
import {
  dollarsOf,
  isDepthKnown,
  otherAnchors,
  type PricedPool,
  pricedWith,
  type TokenPrice,
} from '../token-price/read/token-price.ts';

export interface TokenState {
  /** US dollars per whole token; null: none. */
  readonly usd: Fraction | null;
  /** US dollars in both sides of all pools that are deep enough to have a say. */
  readonly liquidity: Fraction;
  /** US dollars on the anchor side of each pool with a known state. */
  readonly depths: ReadonlyMap<string, Fraction>;
  /** No pool of unknown depth might change it. */
  readonly isFinal: boolean;
}

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
    liquidity: eligible.map((pool) => dollarsIn(pool, anchors)).reduce(addFractions, NOTHING),
    depths: new Map(price.pools.map(({ candidate }) => [candidate.pool, newest(candidate.anchorDepth)])),
    isFinal,
  };
}

/** US dollars of both sides. A balance that is not known counts as nothing. */
function dollarsIn(
  { history, candidate, decimals }: PricedPool,
  anchors: ReadonlyMap<Address, Fraction>,
): Fraction {
  const [balance0, balance1] = history.states.at(-1)?.balances ?? [null, null];
  const own = newest(candidate.price);
  const valueIn = (token: Address, balance: bigint | null, digits: number | null) =>
    worth(wholeTokens(wholeFraction(balance ?? 0n), digits), anchors.get(token) ?? own);
  const [value0, value1] = [
    valueIn(history.token0, balance0, decimals[0]),
    valueIn(history.token1, balance1, decimals[1]),
  ];
  const sides = [value0, value1] as const;
  const liquidity = liquidityOf(sides, skewOf(sides));
  return liquidity === null ? NOTHING : { numerator: roundedUnits(liquidity, DOLLAR), denominator: DOLLAR };
}

const NOTHING: Fraction = { numerator: 0n, denominator: DOLLAR };
