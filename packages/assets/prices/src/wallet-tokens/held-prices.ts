import type { Chain } from '@chainstead/chains';
import { type Address, type Fraction, wholeFraction } from '@chainstead/core';
import { type ReadDatabase, rawSql, sql } from '@chainstead/db';
import { shownToken } from '@chainstead/markets/requests';
import { toDateBound } from '@chainstead/pages';
import { anchorPrices, readAnchorPrices } from '../token-price/place/anchor-prices.ts';
import { type PriceMoment, readPlace } from '../token-price/place/price-place.ts';
import { type PriceSources, readPricesWithBalances } from '../token-price/read/prices-with-balances.ts';
import { countedDepth } from '../token-price/read/read-hop-prices.ts';
import { DAY_SECONDS, dollarsOf, isInactive, type TokenPrice } from '../token-price/read/token-price.ts';
import type { PriceLimits } from '../token-price/serve/price-parameters.ts';

export interface HeldPrice {
  /** US dollars per whole token. */
  readonly usd: Fraction;
  /** 24 hours before; null: unknown, or not wanted. */
  readonly before: Fraction | null;
  /** US dollars that the token's pools could pay out. Null: an anchor, which needs none. */
  readonly depth: Fraction | null;
}

/** The zero address is the native token. */
export type HeldPrices = ReadonlyMap<Address, HeldPrice>;

/** Per wallet: those that moved last. */
export const TOKENS_MAX = 2_000;

/** Tokens beyond the limits are missing. @param query.changing also priced 24 hours before */
export async function readHeldPrices(
  sources: PriceSources,
  chain: Chain,
  tokens: readonly Address[],
  query: { readonly block: number; readonly limits: PriceLimits; readonly changing: readonly Address[] },
): Promise<HeldPrices> {
  const { block, limits, changing } = query;
  const { max_token_inactivity: maxDays } = limits;
  const pricedAs = (token: Address): Address => shownToken(token, chain);
  const now = await pricesAt(sources, chain, tokens.map(pricedAs), { of: 'block', block }, limits);
  if (now === null) return new Map();
  const found = tokens.flatMap((token) => {
    const price = now.prices.get(pricedAs(token));
    if (price === undefined || price.of === 'nothing') return [];
    return maxDays !== undefined && isInactive(price, now, maxDays) ? [] : [{ token, price }];
  });
  if (found.length === 0) return new Map();
  const shown = new Set(changing);
  const wanted = found.flatMap(({ token }) => (shown.has(token) ? [pricedAs(token)] : []));
  const moment = { of: 'time', time: now.time - DAY_SECONDS } as const;
  const earlier = wanted.length === 0 ? null : await pricesAt(sources, chain, wanted, moment, limits);
  return new Map(
    found.map(({ token, price }) => [
      token,
      { usd: price.usd, before: dollarsOf(earlier?.prices.get(pricedAs(token))), depth: depthOf(price) },
    ]),
  );
}

type Moment = Exclude<PriceMoment, { of: 'newest' }>;

/** With Unix seconds. Null: no known block at or before the moment. */
async function pricesAt(
  sources: PriceSources,
  chain: Chain,
  tokens: readonly Address[],
  moment: Moment,
  { min_pair_side_liquidity_usd: minSideDepth }: PriceLimits,
): Promise<{ readonly time: number; readonly prices: ReadonlyMap<Address, TokenPrice> } | null> {
  const { database } = sources;
  const rules = { ...chain.pricing, ...(minSideDepth !== undefined && { minSideDepth }) };
  const { place } = await readPlace(database, chain, moment, rules.windowSeconds);
  if (place !== null) {
    const conditions = { factories: null, rules };
    return { time: place.time, prices: await readPricesWithBalances(sources, chain, tokens, conditions, place) };
  }
  // Pool states may not be indexed there: anchors have a price without them.
  const known = await readBlockTime(database, chain, moment);
  if (known === null) return null;
  const anchors = [...anchorPrices(await readAnchorPrices(database, chain, known))];
  return { time: known.time, prices: new Map(anchors.map(([token, usd]) => [token, { of: 'anchor', usd }])) };
}

async function readBlockTime(
  database: ReadDatabase,
  chain: Chain,
  moment: Moment,
): Promise<{ readonly block: number; readonly time: number } | null> {
  const chainId = sql`${chain.id}::bigint`;
  const [dates, highest] =
    moment.of === 'block'
      ? [rawSql(''), sql`${moment.block}::bigint`]
      : [
          sql`WITH ${toDateBound(chainId, sql`to_timestamp(${moment.time}::float8)`)} `,
          sql`(SELECT block FROM to_date)`,
        ];
  const [row] = await database.select<{ block: number; time: number }>(
    sql`${dates}SELECT block_number AS block, extract(epoch FROM block_timestamp)::float8 AS time FROM blocks
     WHERE chain_id = ${chainId} AND block_number <= ${highest} ORDER BY block_number DESC LIMIT 1`,
  );
  return row ?? null;
}

/** Lasting depth of the pools that had a say. Pools against a hop hold no dollars of anchors. */
function depthOf(price: TokenPrice): Fraction | null {
  if (price.of !== 'pools') return null;
  return price.hops.length > 0 ? wholeFraction(0n) : countedDepth(price.decision);
}
