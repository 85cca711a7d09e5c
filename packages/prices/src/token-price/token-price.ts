import type { Chain } from '@chainstead/chains';
import { type Address, type Fraction, ZERO_ADDRESS } from '@chainstead/core';
import { addressBytes, hexText, type ReadDatabase } from '@chainstead/db';
import { anchorsOf, exchangesOf, formsOf } from '@chainstead/markets';
import { anchorPrices } from './anchor-prices.ts';
import { decidePrice, type PriceCandidate, type PriceDecision, type PricingRules } from './decide-price.ts';
import { candidateOf } from './pool-candidate.ts';
import { type PoolHistory, readPoolHistories } from './pool-histories.ts';
import { readPoolsOfToken } from './pools-of-token.ts';
import type { PricePlace } from './price-place.ts';
import { virtualReserves } from './side-depths.ts';
import { NO_UNKNOWN_DEPTH, type UnknownDepth, unknownDepthOf } from './unknown-depth.ts';

/** Price of a token at the end of a block. */
export type TokenPrice =
  /** A token whose price does not come from pools. US dollars per whole token. */
  | { readonly of: 'anchor'; readonly usd: Fraction }
  | {
      readonly of: 'pools';
      readonly usd: Fraction;
      readonly decision: PriceDecision;
      readonly pools: readonly PricedPool[];
      readonly unknown: UnknownDepth;
    }
  /** `no-pools`: none against an anchor with a price, or the decimals are unknown. `too-shallow`: none is deep enough. */
  | { readonly of: 'nothing'; readonly reason: 'no-pools' | 'too-shallow'; readonly unknown: UnknownDepth };

/** A pool and its figures over the window. */
export interface PricedPool {
  readonly history: PoolHistory;
  readonly candidate: PriceCandidate;
}

export interface TokenPriceQuery {
  readonly token: Address;
  /** Factories whose pools count; null: all. */
  readonly factories: readonly Address[] | null;
  readonly rules: PricingRules;
}

/**
 * Returns the price of a token at a place, from its pools with reserves (Uniswap v2 and its forks, and Solidly) or concentrated liquidity
 * (Uniswap v3, Slipstream and Algebra). An anchor has its own price. While that is unknown, a dollar token has none, and others are priced
 * by their pools.
 */
export async function readTokenPrice(
  database: ReadDatabase,
  chain: Chain,
  { token, factories, rules }: TokenPriceQuery,
  place: PricePlace,
): Promise<TokenPrice> {
  const anchors = anchorPrices(place);
  const own = anchors.get(token);
  if (own !== undefined) return { of: 'anchor', usd: own };
  // A dollar token has its feed's price or none: what it can be sold for is no measure of others.
  if (anchorsOf(chain).dollar.includes(token)) return { of: 'nothing', reason: 'no-pools', unknown: NO_UNKNOWN_DEPTH };
  const others = [...anchors.keys()].filter((anchor) => !formsOf(token, chain).includes(anchor));
  const wanted = { forms: formsOf(token, chain), anchors: others, factories: pricedFactories(chain, factories) };
  const pools = await readPoolHistories(database, chain, await readPoolsOfToken(database, chain, wanted), place);
  const decimals = await readDecimals(database, chain, [
    ...new Set(pools.flatMap(({ token0, token1 }) => [token0, token1])),
  ]);
  const priced = pools.flatMap((history) => {
    const candidate = candidateOf(history, anchors, decimals);
    return candidate === null ? [] : [{ history, candidate }];
  });
  const unknown = unknownDepthOf(
    priced.map(({ history }) => history),
    (history) => candidateOf(history, anchors, decimals, ({ state }) => virtualReserves(state)),
    rules,
  );
  if (priced.length === 0) return { of: 'nothing', reason: 'no-pools', unknown };
  const decision = decidePrice(
    priced.map(({ candidate }) => candidate),
    place.time,
    rules,
  );
  return decision === null
    ? { of: 'nothing', reason: 'too-shallow', unknown }
    : { of: 'pools', usd: decision.price, decision, pools: priced, unknown };
}

/** KyberSwap Elastic is not among them: it adds fees to liquidity that its events don't report. */
const PRICED_FAMILIES: readonly string[] = [
  ...['v2', 'solidly-1', 'solidly-2'],
  ...['v3', 'v3-pancake', 'slipstream', 'algebra', 'algebra-integral'],
];

function pricedFactories(chain: Chain, wanted: readonly Address[] | null): readonly Address[] {
  return exchangesOf(chain)
    .all.filter(({ exchange }) => PRICED_FAMILIES.includes(exchange.family.name))
    .map(({ deployment }) => deployment.factory)
    .filter((factory) => wanted === null || wanted.includes(factory));
}

async function readDecimals(
  database: ReadDatabase,
  chain: Chain,
  tokens: readonly Address[],
): Promise<ReadonlyMap<Address, number>> {
  const rows = await database.select<{ address: Address; decimals: number }>(
    `SELECT ${hexText('address')} AS address, decimals FROM tokens WHERE chain_id = $1::bigint AND address = ANY ($2::bytea[]) AND decimals IS NOT NULL`,
    [chain.id, tokens.map(addressBytes)],
  );
  return new Map([
    ...rows.map(({ address, decimals }) => [address, decimals] as const),
    [ZERO_ADDRESS, chain.native.decimals],
  ]);
}
