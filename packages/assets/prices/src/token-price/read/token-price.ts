import type { Chain } from '@chainstead/chains';
import type { PricingRules } from '@chainstead/chains/pricing-rules';
import {
  type Address,
  compareFractions,
  type Fraction,
  inParts,
  multiplyFractions,
  wholeFraction,
  ZERO_ADDRESS,
} from '@chainstead/core';
import { addressBytes, hexBytes, hexText, type ReadDatabase, sql } from '@chainstead/db';
import { anchorsOf, exchangesOf, formsOf, PRICED_FAMILIES, poolKey } from '@chainstead/markets/requests';
import { decidePrice, type NoDecision, type PriceCandidate, type PriceDecision } from '../decide/decide-price.ts';
import { candidateOf, type UnknownDepth, unknownDepthOf } from '../decide/pool-candidate.ts';
import { anchorPrices } from '../place/anchor-prices.ts';
import type { PricePlace } from '../place/price-place.ts';
import { type PoolOfToken, readPoolsOfTokens } from '../pools/hop-pools.ts';
import { possibleDepths } from '../states/balance-bounds.ts';
import { readPoolHistories } from '../states/pool-histories.ts';
import type { PoolHistory } from '../states/pool-history.ts';
import type { Sides } from '../states/side-depths.ts';

export type TokenPrice =
  /** The price does not come from pools. US dollars per whole token. */
  | { readonly of: 'anchor'; readonly usd: Fraction }
  | {
      readonly of: 'pools';
      readonly usd: Fraction;
      readonly decision: PriceDecision;
      readonly pools: readonly PricedPool[];
      readonly unknown: UnknownDepth;
      readonly hops: readonly HopPrice[];
      readonly hopTokens: readonly Address[];
    }
  | {
      readonly of: 'nothing';
      readonly why: NoPrice;
      readonly unknown: UnknownDepth;
      readonly hopTokens: readonly Address[];
    };

export type NoPrice =
  | { readonly reason: 'no-pools' }
  | { readonly reason: 'no-anchor' }
  /** The price of an anchor, a state or decimals may get known. */
  | { readonly reason: 'anchor-unread' | 'state-unread' | 'decimals-unread' }
  /** `depth-unread`: a pool might be deep enough. `unsettled`: {@link NoDecision}. */
  | ({
      readonly reason: 'too-shallow' | 'depth-unread' | 'unsettled';
      readonly pools: readonly PricedPool[];
      readonly rules: PricingRules;
    } & { readonly decision: NoDecision })
  | { readonly reason: 'implausible'; readonly usd: Fraction; readonly value: Fraction };

export interface HopPrice {
  readonly token: Address;
  readonly price: Extract<TokenPrice, { of: 'pools' }>;
  /** US dollars on the side of anchors, of the pools that have a say. */
  readonly depth: Fraction;
}

export interface PricedPool {
  readonly history: PoolHistory;
  readonly candidate: PriceCandidate;
  readonly decimals: Sides<number>;
}

export type TokenPrices = ReadonlyMap<Address, TokenPrice>;

export interface PriceConditions {
  /** Null: all. */
  readonly factories: readonly Address[] | null;
  readonly rules: PricingRules;
  /** Anchors too are priced by pools, against other anchors. Default: no. */
  readonly isOfPools?: boolean;
}

/**
 * By pools against anchors. An anchor has its own price; if unknown, that of pools (dollars: none).
 * While it may get known, neither it nor tokens with a pool against it have a price.
 */
export async function readDirectPrices(
  database: ReadDatabase,
  chain: Chain,
  tokens: readonly Address[],
  conditions: PriceConditions,
  place: PricePlace,
): Promise<TokenPrices> {
  const [prices = new Map()] = await readDirectPricesAt(database, chain, tokens, conditions, [place]);
  return prices;
}

/** {@link readDirectPrices} at each place, in as many statements as at one. */
export async function readDirectPricesAt(
  database: ReadDatabase,
  chain: Chain,
  tokens: readonly Address[],
  { factories, rules, isOfPools = false }: PriceConditions,
  places: readonly PricePlace[],
): Promise<readonly TokenPrices[]> {
  const unique = [...new Set(tokens)];
  const wanted = places.map((place) => {
    const ofPools = isOfPools ? unique : tokensWithPools(unique, chain, place);
    const forms = new Set(ofPools.flatMap((token) => formsOf(token, chain)));
    return { place, forms, anchors: new Set([...anchorPrices(place).keys(), ...place.pending]) };
  });
  const query = {
    forms: [...new Set(wanted.flatMap(({ forms }) => [...forms]))],
    anchors: [...new Set(wanted.flatMap(({ anchors }) => [...anchors]))],
    factories: pricedFactories(chain, factories),
  };
  const all = query.forms.length === 0 ? [] : await readPoolsOfTokens(database, chain, query);
  const [histories, facts] = await Promise.all([
    readHistories(database, chain, all, places),
    readTokenFacts(database, chain, all),
  ]);
  const isStateless = ({ pool }: PoolOfToken) => histories.some((some) => some.every((one) => one.pool !== pool));
  const created = await readCreationBlocks(database, chain, all.filter(isStateless));
  return wanted.map(({ place, forms, anchors }, index) => {
    const isPool = ({ token0, token1 }: Pick<PoolOfToken, 'token0' | 'token1'>) =>
      (forms.has(token0) && anchors.has(token1)) || (forms.has(token1) && anchors.has(token0));
    const existed = ({ pool }: PoolOfToken) => (created.get(pool) ?? 0) <= place.block;
    const pools = all.filter((pool) => isPool(pool) && existed(pool));
    const found = { pools, histories: (histories[index] ?? []).filter(isPool), facts };
    return directPrices(chain, unique, { rules, isOfPools }, place, found);
  });
}

/** First creation of each pool, where it is indexed. */
async function readCreationBlocks(
  database: ReadDatabase,
  { id }: Chain,
  pools: readonly PoolOfToken[],
): Promise<ReadonlyMap<string, number>> {
  if (pools.length === 0) return new Map();
  const rows = await database.select<{ readonly pool: string; readonly block: number }>(
    sql`SELECT ${hexText('pool')} AS pool, min(block_number)::int8 AS block FROM pool_creations
     WHERE pool_key = ANY (${pools.map(({ pool }) => poolKey(pool))}::bigint[]) AND chain_id = ${id}::bigint
       AND pool = ANY (${pools.map(({ pool }) => hexBytes(pool))}::bytea[]) GROUP BY pool`,
  );
  return new Map(rows.map(({ pool, block }) => [pool, block]));
}

interface FoundPools {
  readonly pools: readonly PoolOfToken[];
  readonly histories: readonly PoolHistory[];
  readonly facts: DecimalsAndSupplies;
}

function directPrices(
  chain: Chain,
  tokens: readonly Address[],
  { rules, isOfPools }: Pick<PriceConditions, 'rules' | 'isOfPools'>,
  place: PricePlace,
  { pools, histories, facts }: FoundPools,
): TokenPrices {
  const anchors = anchorPrices(place);
  const pending = new Set(place.pending);
  const ofPools = new Set(isOfPools ? tokens : tokensWithPools(tokens, chain, place));
  const byToken = groupByToken(histories);
  const withPools = new Set(pools.flatMap(({ token0, token1 }) => [token0, token1]));
  return new Map(
    tokens.map((token): readonly [Address, TokenPrice] => {
      const own = isOfPools ? undefined : anchors.get(token);
      if (own !== undefined) return [token, { of: 'anchor', usd: own }];
      const forms = ofPools.has(token) ? formsOf(token, chain) : [];
      const ofToken = [...new Set(forms.flatMap((form) => byToken.get(form) ?? []))];
      const isPending = (side: Address) => pending.has(side) && !forms.includes(side);
      const waits =
        pending.has(token) || ofToken.some(({ token0, token1 }) => isPending(token0) || isPending(token1));
      const figures = { anchors: otherAnchors(anchors, forms), decimals: facts.decimals, rules };
      // Invariant: PRICE-NOT-GUESSED
      if (waits) return [token, PENDING];
      const price = withPlausibleValue(token, priceFrom(ofToken, figures, place), facts);
      const hasPools = forms.some((form) => withPools.has(form));
      // A backfill or contract read may still show their states.
      const isUnread = price.of === 'nothing' && isWithoutPools(price) && hasPools;
      return [token, isUnread ? { ...price, why: { reason: 'state-unread' } } : price];
    }),
  );
}

export function isWithoutPools(price: TokenPrice): boolean {
  return price.of === 'nothing' && price.why.reason === 'no-pools';
}

const PENDING: TokenPrice = {
  of: 'nothing',
  why: { reason: 'anchor-unread' },
  unknown: { isFinal: false, unread: [], moved: [], old: [] },
  hopTokens: [],
};

export function otherAnchors(
  anchors: ReadonlyMap<Address, Fraction>,
  forms: readonly Address[],
): ReadonlyMap<Address, Fraction> {
  return new Map(anchors.entries().filter(([token]) => !forms.includes(token)));
}

export function groupByToken<Pool extends { readonly token0: Address; readonly token1: Address }>(
  pools: readonly Pool[],
): ReadonlyMap<Address, readonly Pool[]> {
  const sides = pools.flatMap((pool) => [pool.token0, pool.token1].map((token) => ({ token, pool })));
  const groups = Map.groupBy(sides, ({ token }) => token);
  return new Map(groups.entries().map(([token, of]) => [token, of.map(({ pool }) => pool)]));
}

export function tokensWithPools(
  tokens: readonly Address[],
  chain: Chain,
  place: Pick<PricePlace, 'anchors' | 'pending'>,
): readonly Address[] {
  const anchors = anchorPrices(place);
  const others = new Set([...anchorsOf(chain).dollar, ...place.pending]);
  // A dollar token has its feed's price or none: a sale price is no measure of others.
  return [...new Set(tokens)].filter((token) => !anchors.has(token) && !others.has(token));
}

export function dollarsOf(price: TokenPrice | undefined): Fraction | null {
  return price === undefined || price.of === 'nothing' ? null : price.usd;
}

export function isInactive(price: TokenPrice, place: Pick<PricePlace, 'time'>, days: number): boolean {
  if (price.of !== 'pools') return false;
  const newest = Math.max(...price.pools.map(({ history }) => history.changedAt.since));
  return place.time - newest > days * DAY_SECONDS;
}

/** US dollars per whole token of the anchors, or the price's hops. */
export function pricedWith(
  anchors: ReadonlyMap<Address, Fraction>,
  price: TokenPrice,
): ReadonlyMap<Address, Fraction> {
  if (price.of !== 'pools' || price.hops.length === 0) return anchors;
  return new Map(price.hops.map(({ token, price: { usd } }) => [token, usd]));
}

export function hopTokensOf(price: TokenPrice | undefined): readonly Address[] {
  return price === undefined || price.of === 'anchor' ? [] : price.hopTokens;
}

export function isDepthKnown(price: TokenPrice): boolean {
  return price.of === 'anchor' || price.unknown.isFinal;
}

export const DAY_SECONDS = 86_400;

export interface Figures {
  readonly anchors: ReadonlyMap<Address, Fraction>;
  readonly decimals: ReadonlyMap<Address, number>;
  readonly rules: PricingRules;
}

export function priceFrom(
  histories: readonly PoolHistory[],
  { anchors, decimals, rules }: Figures,
  { time }: Pick<PricePlace, 'time'>,
): TokenPrice {
  const isUnread = (token: Address) => anchors.has(token) && !decimals.has(token);
  const pools = histories.flatMap((history) => {
    const candidate = candidateOf(history, anchors, decimals);
    const [own0, own1] = [decimals.get(history.token0), decimals.get(history.token1)];
    if (candidate === null || own0 === undefined || own1 === undefined) return [];
    return [{ history, candidate, decimals: [own0, own1] as const }];
  });
  const possibleOf = (history: PoolHistory) =>
    candidateOf(history, anchors, decimals, (state) => possibleDepths(history, state));
  const ownHistories = pools.map(({ history }) => history);
  const depths = unknownDepthOf(ownHistories, possibleOf, rules);
  // A pool counts once the decimals of its anchor are read.
  const lacksDecimals = histories.some((pool) => isUnread(pool.token0) || isUnread(pool.token1));
  const unknown = { ...depths, isFinal: depths.isFinal && !lacksDecimals };
  if (pools.length === 0) {
    const reason = histories.length === 0 ? 'no-pools' : 'decimals-unread';
    return { of: 'nothing', why: { reason }, unknown, hopTokens: [] };
  }
  const candidates = pools.map(({ candidate }) => candidate);
  const decision = decidePrice(candidates, time, rules);
  if ('reason' in decision) {
    const reason = depths.isFinal || decision.reason === 'unsettled' ? decision.reason : 'depth-unread';
    return { of: 'nothing', why: { reason, decision, pools, rules }, unknown, hopTokens: [] };
  }
  return { of: 'pools', usd: decision.price, decision, pools, unknown, hops: [], hopTokens: [] };
}

const POOLS_PER_STATEMENT = 128;

/** For each place in order. */
export async function readHistories(
  database: ReadDatabase,
  chain: Chain,
  pools: readonly PoolOfToken[],
  places: readonly PricePlace[],
): Promise<readonly (readonly PoolHistory[])[]> {
  const parts: (readonly (readonly PoolHistory[])[])[] = [];
  for (const some of inParts(pools, POOLS_PER_STATEMENT))
    parts.push(await readPoolHistories(database, chain, some, places));
  return places.map((_, index) => parts.flatMap((part) => part[index] ?? []));
}

/** Null: all. */
export function pricedFactories(chain: Chain, wanted: readonly Address[] | null): readonly Address[] {
  return exchangesOf(chain)
    .all.filter(({ exchange }) => PRICED_FAMILIES.includes(exchange.family.name))
    .map(({ deployment }) => deployment.factory)
    .filter((factory) => wanted === null || wanted.includes(factory));
}

interface DecimalsAndSupplies {
  readonly decimals: ReadonlyMap<Address, number>;
  readonly supplies: ReadonlyMap<Address, bigint>;
}

export async function readTokenFacts(
  database: ReadDatabase,
  chain: Chain,
  pools: readonly Pick<PoolOfToken, 'token0' | 'token1'>[],
): Promise<DecimalsAndSupplies> {
  if (pools.length === 0) return { decimals: new Map(), supplies: new Map() };
  const tokens = new Set(pools.flatMap(({ token0, token1 }) => [token0, token1]));
  const rows = await database.select<{ address: Address; decimals: number; supply: string | null }>(
    sql`SELECT ${hexText('address')} AS address, decimals, total_supply::text AS supply FROM tokens
     WHERE chain_id = ${chain.id}::bigint AND address = ANY (${[...tokens].map(addressBytes)}::bytea[]) AND decimals IS NOT NULL`,
  );
  const decimals = new Map(rows.map((row) => [row.address, row.decimals]));
  return {
    decimals: decimals.set(ZERO_ADDRESS, chain.native.decimals),
    supplies: new Map(
      rows.flatMap(({ address, supply }) => (supply === null ? [] : [[address, BigInt(supply)]])),
    ),
  };
}

export async function readDecimals(
  ...given: Parameters<typeof readTokenFacts>
): Promise<DecimalsAndSupplies['decimals']> {
  return (await readTokenFacts(...given)).decimals;
}

/** No token is worth more US dollars. Pools can't pay out such a price. */
export const VALUATION_MAX = wholeFraction(10n ** 13n);

export function withPlausibleValue(
  token: Address,
  price: TokenPrice,
  { decimals, supplies }: DecimalsAndSupplies,
): TokenPrice {
  const [places, supply] = [decimals.get(token), supplies.get(token)];
  if (price.of !== 'pools' || places === undefined || supply === undefined) return price;
  const value = multiplyFractions(price.usd, { numerator: supply, denominator: 10n ** BigInt(places) });
  if (compareFractions(value, VALUATION_MAX) <= 0) return price;
  const why = { reason: 'implausible', usd: price.usd, value } as const;
  return { of: 'nothing', why, unknown: price.unknown, hopTokens: price.hopTokens };
}
