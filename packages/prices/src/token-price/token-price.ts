import type { Chain } from '@chainstead/chains';
import { type Address, type Fraction, ZERO_ADDRESS } from '@chainstead/core';
import { addressBytes, hexText, type ReadDatabase } from '@chainstead/db';
import { exchangesOf, formsOf } from '@chainstead/markets';
import { anchorPrices } from './anchor-prices.ts';
import { decidePrice, type PriceCandidate, type PriceDecision, type PricingRules } from './decide-price.ts';
import { candidateOf } from './pool-candidate.ts';
import { type PoolHistory, readPoolHistories } from './pool-histories.ts';
import { type PoolOfToken, readPoolsOfTokens } from './pools-of-token.ts';
import type { PricePlace } from './price-place.ts';

/** Price of a token at the end of a block. */
export type TokenPrice =
  /** A token whose price does not come from pools. US dollars per whole token. */
  | { readonly of: 'anchor'; readonly usd: Fraction }
  | {
      readonly of: 'pools';
      readonly usd: Fraction;
      readonly decision: PriceDecision;
      readonly pools: readonly PricedPool[];
    }
  /** `no-pools`: none against an anchor with a price, or the decimals are unknown. `too-shallow`: none is deep enough. */
  | { readonly of: 'nothing'; readonly reason: 'no-pools' | 'too-shallow' };

/** A pool and its figures over the window. */
export interface PricedPool {
  readonly history: PoolHistory;
  readonly candidate: PriceCandidate;
}

export interface PriceConditions {
  /** Factories whose pools count; null: all. */
  readonly factories: readonly Address[] | null;
  readonly rules: PricingRules;
}

export interface TokenPriceQuery extends PriceConditions {
  readonly token: Address;
}

/** Returns the price of a token at a place, as {@link readTokenPrices} does. */
export async function readTokenPrice(
  database: ReadDatabase,
  chain: Chain,
  { token, ...conditions }: TokenPriceQuery,
  place: PricePlace,
): Promise<TokenPrice> {
  const prices = await readTokenPrices(database, chain, [token], conditions, place);
  return prices.get(token) ?? NO_POOLS;
}

/**
 * Returns the price of each token at a place, from its pools with reserves: Uniswap v2 and its forks, and Solidly. A dollar token is worth 1;
 * the native token and ether are worth the ether price. Other anchors have none. The number of statements hardly depends on that of tokens.
 */
export async function readTokenPrices(
  database: ReadDatabase,
  chain: Chain,
  tokens: readonly Address[],
  { factories, rules }: PriceConditions,
  place: PricePlace,
): Promise<ReadonlyMap<Address, TokenPrice>> {
  const anchors = anchorPrices(chain, place);
  const unique = [...new Set(tokens)];
  const formsByToken = new Map(
    unique.filter((token) => !anchors.has(token)).map((token) => [token, formsOf(token, chain)] as const),
  );
  const wanted = {
    forms: [...new Set([...formsByToken.values()].flat())],
    anchors: [...anchors.keys()],
    factories: factoriesWithReserves(chain, factories),
  };
  const pools = wanted.forms.length === 0 ? [] : await readPoolsOfTokens(database, chain, wanted);
  const priced = await readPricedPools(database, chain, pools, anchors, place);
  return new Map(
    unique.map((token): readonly [Address, TokenPrice] => {
      const own = anchors.get(token);
      if (own !== undefined) return [token, { of: 'anchor', usd: own }];
      const forms = formsByToken.get(token) ?? [];
      const ofToken = priced.filter(
        ({ history: { token0, token1 } }) => forms.includes(token0) || forms.includes(token1),
      );
      return [token, priceFrom(ofToken, rules, place)];
    }),
  );
}

const NO_POOLS: TokenPrice = { of: 'nothing', reason: 'no-pools' };

/** Bounds the length of a statement. */
const POOLS_PER_STATEMENT = 64;

/** Pools with a state at the place and known decimals, with their figures. */
async function readPricedPools(
  database: ReadDatabase,
  chain: Chain,
  pools: readonly PoolOfToken[],
  anchors: ReadonlyMap<Address, Fraction>,
  place: PricePlace,
): Promise<readonly PricedPool[]> {
  const histories: PoolHistory[] = [];
  for (let start = 0; start < pools.length; start += POOLS_PER_STATEMENT)
    histories.push(
      ...(await readPoolHistories(database, chain, pools.slice(start, start + POOLS_PER_STATEMENT), place)),
    );
  if (histories.length === 0) return [];
  const sides = new Set(histories.flatMap(({ token0, token1 }) => [token0, token1]));
  const decimals = await readDecimals(database, chain, [...sides]);
  return histories.flatMap((history) => {
    const candidate = candidateOf(history, anchors, decimals);
    return candidate === null ? [] : [{ history, candidate }];
  });
}

function priceFrom(pools: readonly PricedPool[], rules: PricingRules, { time }: PricePlace): TokenPrice {
  if (pools.length === 0) return NO_POOLS;
  const decision = decidePrice(
    pools.map(({ candidate }) => candidate),
    time,
    rules,
  );
  return decision === null
    ? { of: 'nothing', reason: 'too-shallow' }
    : { of: 'pools', usd: decision.price, decision, pools };
}

/** US dollars per whole token; null: none. */
export function dollarsOf(price: TokenPrice | undefined): Fraction | null {
  return price === undefined || price.of === 'nothing' ? null : price.usd;
}

/** Whether no pool of the token has changed for more than this number of days before the place. */
export function isInactive(price: TokenPrice, place: Pick<PricePlace, 'time'>, days: number): boolean {
  if (price.of !== 'pools') return false;
  const newest = Math.max(...price.pools.map(({ history }) => history.reserves.at(-1)?.since ?? 0));
  return place.time - newest > days * DAY_SECONDS;
}

export const DAY_SECONDS = 86_400;

const RESERVE_FAMILIES: readonly string[] = ['v2', 'solidly-1', 'solidly-2'];

function factoriesWithReserves(chain: Chain, wanted: readonly Address[] | null): readonly Address[] {
  return exchangesOf(chain)
    .all.filter(({ exchange }) => RESERVE_FAMILIES.includes(exchange.family.name))
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
