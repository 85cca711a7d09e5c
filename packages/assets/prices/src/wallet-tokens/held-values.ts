import type { Chain } from '@chainstead/chains';
import {
  type Address,
  addFractions,
  decimalFraction,
  type Fraction,
  multiplyFractions,
  nearestNumber,
  smallerFraction,
  wholeFraction,
  ZERO_ADDRESS,
} from '@chainstead/core';
import { type ReadDatabase, rawSql, sql } from '@chainstead/db';
import type { ResolvedBalance } from '@chainstead/erc20/requests';
import { shownToken } from '@chainstead/markets/requests';
import { toDateBound } from '@chainstead/pages';
import { anchorPrices, readAnchorPrices } from '../token-price/place/anchor-prices.ts';
import { type PriceMoment, readPlace } from '../token-price/place/price-place.ts';
import { type PriceSources, readPricesWithBalances } from '../token-price/read/prices-with-balances.ts';
import { countedDepth } from '../token-price/read/read-hop-prices.ts';
import { DAY_SECONDS, dollarsOf, isInactive, type TokenPrice } from '../token-price/read/token-price.ts';
import type { PriceLimits } from '../token-price/serve/price-reader.ts';
import { changeBetween } from '../token-price/serve/shown-values.ts';

/** Base units. Null: unknown decimals. */
interface PricedBalance {
  readonly balance: bigint;
  readonly decimals: number | null;
  readonly price: HeldPrice | undefined;
}

export function dollarValue({ balance, decimals, price }: PricedBalance): Fraction | null {
  return price === undefined ? null : timesPrice(balance, decimals, price.usd);
}

export function nativeHolding({ native }: Chain, balance: bigint, prices: HeldPrices): PricedBalance {
  return { balance, decimals: native.decimals, price: prices.get(ZERO_ADDRESS) };
}

export function holdingOf({ token, balance, facts }: ResolvedBalance, prices: HeldPrices): PricedBalance {
  return { balance, decimals: facts.decimals, price: prices.get(token) };
}

/** The value, but at most what the token's pools could pay out. 0 without a price. */
export function payableValue(holding: PricedBalance): Fraction {
  const [value, depth] = [dollarValue(holding) ?? ZERO, holding.price?.depth ?? null];
  return depth === null ? value : smallerFraction(value, depth);
}

export function sumOf(values: readonly Fraction[]): Fraction {
  return values.reduce(addFractions, ZERO);
}

export function totalOf(holdings: readonly PricedBalance[]): Fraction {
  return sumOf(holdings.map((holding) => dollarValue(holding) ?? ZERO));
}

/** @param total US dollars of all tokens of the wallet */
export function showValues(holding: PricedBalance, total: Fraction) {
  const { balance, decimals, price } = holding;
  const value = dollarValue(holding);
  if (price === undefined || value === null) return UNVALUED;
  const change = price.before === null ? null : changeBetween(price.before, price.usd);
  const valueBefore = price.before === null ? null : timesPrice(balance, decimals, price.before);
  return {
    usd_price: nearestNumber(price.usd),
    usd_price_24hr_percent_change: change?.percent ?? null,
    usd_price_24hr_usd_change: change?.dollars ?? null,
    usd_value: nearestNumber(value),
    usd_value_24hr_usd_change: valueBefore === null ? null : (changeBetween(valueBefore, value)?.dollars ?? null),
    portfolio_percentage: percentOf(value, total),
  };
}

const ZERO = wholeFraction(0n);
const PERCENT_DIGITS = 6;

const UNVALUED = {
  usd_price: null,
  usd_price_24hr_percent_change: null,
  usd_price_24hr_usd_change: null,
  usd_value: null,
  usd_value_24hr_usd_change: null,
  portfolio_percentage: 0,
};

function timesPrice(balance: bigint, decimals: number | null, usd: Fraction): Fraction | null {
  if (decimals === null) return null;
  return multiplyFractions({ numerator: balance, denominator: 10n ** BigInt(decimals) }, usd);
}

function percentOf(value: Fraction, total: Fraction): number {
  if (total.numerator === 0n) return 0;
  const share = {
    numerator: 100n * value.numerator * total.denominator,
    denominator: value.denominator * total.numerator,
  };
  return Number(decimalFraction(share, PERCENT_DIGITS));
}

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
