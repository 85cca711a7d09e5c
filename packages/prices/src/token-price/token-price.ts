import type { Chain } from '@chainstead/chains';
import { type Address, type Fraction, multiplyFractions, wholeFraction, ZERO_ADDRESS } from '@chainstead/core';
import { addressBytes, hexText, type ReadDatabase } from '@chainstead/db';
import { anchorsOf, exchangesOf, formsOf, priceOf } from '@chainstead/markets';
import { decidePrice, type PriceCandidate, type PriceDecision, type PricingRules } from './decide-price.ts';
import { type PoolHistory, type ReservesSince, readPoolHistories } from './pool-histories.ts';
import type { PricePlace } from './price-place.ts';
import type { TimedValue } from './time-weighted.ts';

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

export interface TokenPriceQuery {
  readonly token: Address;
  /** Factories whose pools count; null: all. */
  readonly factories: readonly Address[] | null;
  readonly rules: PricingRules;
}

/**
 * Returns the price of a token at a place, from its pools with reserves: Uniswap v2 and its forks, and Solidly. A dollar token is worth 1;
 * the native token and ether are worth the ether price. Other anchors have none.
 */
export async function readTokenPrice(
  database: ReadDatabase,
  chain: Chain,
  { token, factories, rules }: TokenPriceQuery,
  place: PricePlace,
): Promise<TokenPrice> {
  const anchors = dollarsOfAnchors(chain, place);
  const own = anchors.get(token);
  if (own !== undefined) return { of: 'anchor', usd: own };
  const others = [...anchors.keys()].filter((anchor) => !formsOf(token, chain).includes(anchor));
  const wanted = { forms: formsOf(token, chain), anchors: others, factories: factoriesWithReserves(chain, factories) };
  const pools = await readPoolHistories(database, chain, wanted, place);
  const decimals = await readDecimals(database, chain, [
    ...new Set(pools.flatMap(({ token0, token1 }) => [token0, token1])),
  ]);
  const priced = pools.flatMap((history) => {
    const candidate = candidateOf(history, anchors, decimals);
    return candidate === null ? [] : [{ history, candidate }];
  });
  if (priced.length === 0) return { of: 'nothing', reason: 'no-pools' };
  const decision = decidePrice(
    priced.map(({ candidate }) => candidate),
    place.time,
    rules,
  );
  return decision === null
    ? { of: 'nothing', reason: 'too-shallow' }
    : { of: 'pools', usd: decision.price, decision, pools: priced };
}

const RESERVE_FAMILIES: readonly string[] = ['v2', 'solidly-1', 'solidly-2'];

function factoriesWithReserves(chain: Chain, wanted: readonly Address[] | null): readonly Address[] {
  return exchangesOf(chain)
    .all.filter(({ exchange }) => RESERVE_FAMILIES.includes(exchange.family.name))
    .map(({ deployment }) => deployment.factory)
    .filter((factory) => wanted === null || wanted.includes(factory));
}

/** US dollars per whole token of each anchor that has a price at the place. */
function dollarsOfAnchors(chain: Chain, { ether }: PricePlace): ReadonlyMap<Address, Fraction> {
  const { dollar, native, ether: bridged } = anchorsOf(chain);
  const etherTokens = ether === null ? [] : [...(chain.native.isEther ? native : []), ...bridged];
  return new Map([
    ...dollar.map((token) => [token, wholeFraction(1n)] as const),
    ...etherTokens.map((token) => [token, ether ?? wholeFraction(0n)] as const),
  ]);
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

/** Null: the decimals of a side are unknown, or the pool was never filled. */
function candidateOf(
  pool: PoolHistory,
  anchors: ReadonlyMap<Address, Fraction>,
  decimals: ReadonlyMap<Address, number>,
): PriceCandidate | null {
  const [decimals0, decimals1] = [decimals.get(pool.token0), decimals.get(pool.token1)];
  if (decimals0 === undefined || decimals1 === undefined) return null;
  const isAnchor0 = anchors.has(pool.token0);
  const dollars = anchors.get(isAnchor0 ? pool.token0 : pool.token1);
  if (dollars === undefined) return null;
  const units = {
    anchor: 10n ** BigInt(isAnchor0 ? decimals0 : decimals1),
    token: 10n ** BigInt(isAnchor0 ? decimals1 : decimals0),
  };
  const history: { readonly price: TimedValue; readonly anchor: TimedValue; readonly token: TimedValue }[] = [];
  for (const state of pool.reserves) {
    const ratio = ratioOf(state, pool, [decimals0, decimals1]);
    // An empty pool keeps its last price, at no depth.
    const before = history.at(-1)?.price.value;
    const value =
      ratio === null
        ? before
        : multiplyFractions(
            multiplyFractions(isAnchor0 ? inverse(ratio) : ratio, {
              numerator: units.token,
              denominator: units.anchor,
            }),
            dollars,
          );
    if (value === undefined) continue;
    const [anchorReserve, tokenReserve] = isAnchor0
      ? [state.reserve0, state.reserve1]
      : [state.reserve1, state.reserve0];
    const { since } = state;
    history.push({
      price: { since, value },
      anchor: { since, value: multiplyFractions({ numerator: anchorReserve, denominator: units.anchor }, dollars) },
      token: { since, value: multiplyFractions({ numerator: tokenReserve, denominator: units.token }, value) },
    });
  }
  return history.length === 0
    ? null
    : {
        pool: pool.pool,
        price: history.map(({ price }) => price),
        anchorDepth: history.map(({ anchor }) => anchor),
        tokenDepth: history.map(({ token }) => token),
        createdAt: pool.createdAt,
      };
}

/** Base units of token 1 per base unit of token 0; null: the pool is empty. */
function ratioOf(
  { reserve0, reserve1 }: ReservesSince,
  { isStable }: PoolHistory,
  decimals: readonly [number, number],
): Fraction | null {
  return priceOf({ of: 'reserves', reserve0, reserve1 }, { isStable, tickSpacing: null, decimals });
}

function inverse({ numerator, denominator }: Fraction): Fraction {
  return { numerator: denominator, denominator: numerator };
}
