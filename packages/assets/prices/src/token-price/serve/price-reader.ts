import type { Chain } from '@chainstead/chains';
import { type Address, type Fraction, ZERO_ADDRESS } from '@chainstead/core';
import { addressBytes, joinSql, type ReadDatabase, type Sql, sql } from '@chainstead/db';
import { addressKey } from '@chainstead/db/column-types';
import { booleanParameter, textParameter } from '@chainstead/http';
import { factoriesOf, formsOf, LOOKUP_BLOCKS_MAX, shownToken } from '@chainstead/markets/requests';
import {
  type PackedTokens,
  readTokens,
  type TokenFacts,
  tokenBook,
  tokensOf,
  UNKNOWN_TOKEN,
} from '@chainstead/tokens/token-book';
import { type PricePlace, readPlaces } from '../place/price-place.ts';
import {
  addMissingBalances,
  type PriceSources,
  readNativePrice,
  readPricesWithBalances,
} from '../read/prices-with-balances.ts';
import { addHopPrices, readTokenPrices } from '../read/read-hop-prices.ts';
import {
  DAY_SECONDS,
  dollarsOf,
  hopTokensOf,
  isDepthKnown,
  isInactive,
  type PriceConditions,
  readDirectPricesAt,
} from '../read/token-price.ts';
import type { Refusal, Refused } from './price-refusals.ts';
import type { FoundPrice } from './price-response.ts';
import { readDecimal } from './shown-values.ts';

export interface WantedPrice {
  readonly token: Address;
  readonly exchange: string | null;
  readonly toBlock: number | null;
}

/** `read`: in request order. Tokens of one block and exchange are read together. */
export function createPriceReader(sources: PriceSources, chain: Chain, options: PriceLimits) {
  const { reads: database } = sources;
  const { max_token_inactivity: maxDays, min_pair_side_liquidity_usd: minSideDepth } = options;
  const rules = { ...chain.pricing, ...(minSideDepth !== undefined && { minSideDepth }) };
  const places = new Map<number | null, ReturnType<typeof readPlaces>>();
  const natives = new Map<number, Promise<Fraction | null>>();

  const placesAt = (toBlock: number | null) =>
    remembered(places, toBlock, () => {
      const moment = toBlock === null ? ({ of: 'newest' } as const) : ({ of: 'block', block: toBlock } as const);
      return readPlaces(database, chain, moment, rules.windowSeconds, DAY_SECONDS);
    });
  const nativeAt = (place: PricePlace) =>
    remembered(natives, place.block, () => readNativePrice(sources, chain, place));

  async function readGroup(group: Omit<WantedPrice, 'token'>, tokens: readonly Address[]): Promise<PriceOf> {
    const { exchange, toBlock } = group;
    const factories = exchange === null || exchange === '' ? null : factoriesOf(exchange, chain);
    const { place, indexed, earlier: earlierPlace } = await placesAt(toBlock);
    const refuse = (refusal: Refusal): Refused => ({ refusal, indexed });
    const refuseAs = (of: Exclude<Refusal['of'], 'no-price'>): Refused => refuse({ of });
    if (factories?.length === 0) return async () => refuseAs('unknown-exchange');
    if (toBlock !== null && indexed.toBlock !== null && toBlock > indexed.toBlock)
      return async () => refuseAs('beyond-head');
    const isNative = (token: Address) => token === shownToken(ZERO_ADDRESS, chain);
    if (place === null) {
      const why = { reason: 'state-unread' } as const;
      return async (token) =>
        refuse({ of: 'no-price', why, isNative: isNative(token), isLasting: toBlock !== null });
    }
    // Nothing reads states at older blocks, other than a backfill.
    const isOld = toBlock !== null && (indexed.toBlock ?? toBlock) - place.block > LOOKUP_BLOCKS_MAX;
    const at = { place, earlierPlace };
    const { prices, facts, earlier } = await readBoth(sources, chain, tokens, { factories, rules }, at);
    return async (token) => {
      const price = prices.get(token);
      if (price === undefined || price.of === 'nothing') {
        const why = price?.why ?? { reason: 'no-pools' };
        const isRead = price !== undefined && price.unknown.unread.length + price.unknown.moved.length > 0;
        return refuse({ of: 'no-price', why, isNative: isNative(token), isLasting: isOld && !isRead });
      }
      if (maxDays !== undefined && isInactive(price, place, maxDays)) return refuseAs('inactive');
      const { isDecided: isOwnDecided, ...known } = facts(token);
      const isDecided = isOwnDecided && hopTokensOf(price).every((hop) => facts(hop).isDecided);
      // An unproven pool might be the deepest one, and so might one of unknown depth.
      const complete = indexed.complete && isDecided && isDepthKnown(price);
      if (options.final === true && !complete && price.of !== 'anchor') return refuseAs('not-final');
      return {
        ...{ token, place, rules, toBlock, price, ...known },
        indexed: { ...indexed, complete },
        native: await nativeAt(place),
        before: dollarsOf(earlier?.get(token)),
      };
    };
  }

  async function read(wanted: readonly WantedPrice[]): Promise<readonly (FoundPrice | Refused)[]> {
    const keyOf = ({ exchange, toBlock }: WantedPrice): string => JSON.stringify([exchange, toBlock]);
    const groups = Map.groupBy(wanted, keyOf);
    const readers = new Map<string, PriceOf>();
    const found: (FoundPrice | Refused)[] = [];
    for (const price of wanted) {
      const key = keyOf(price);
      // The native token has the pools of its wrapped form, so that a refusal names them.
      const tokens = (groups.get(key) ?? []).map(({ token }) => shownToken(token, chain));
      const priceOf = readers.get(key) ?? (await readGroup(price, tokens));
      readers.set(key, priceOf);
      found.push(await priceOf(shownToken(price.token, chain)));
    }
    return found;
  }

  return { read, readIndexed: async () => (await placesAt(null)).indexed };
}

interface Places {
  readonly place: PricePlace;
  readonly earlierPlace: PricePlace | null;
}

/** Prices at a place, facts of the tokens that have one, and their earlier prices. */
async function readBoth(
  sources: PriceSources,
  chain: Chain,
  tokens: readonly Address[],
  conditions: PriceConditions,
  { place, earlierPlace }: Places,
) {
  const { reads } = sources;
  const places = earlierPlace === null ? [place] : [place, earlierPlace];
  // A second statement takes longer than the earlier states of tokens without a price.
  const both = readDirectPricesAt(reads, chain, tokens, conditions, places);
  const direct = both.then(([now = new Map()]) => now);
  const prices = await readPricesWithBalances({ ...sources, direct }, chain, tokens, conditions, place);
  const priced = tokens.filter((token) => dollarsOf(prices.get(token)) !== null);
  const hopTokens = priced.flatMap((token) => hopTokensOf(prices.get(token)));
  const readEarlier = async (at: PricePlace) => {
    const [now, before] = await both;
    // Look-ups may have found pools meanwhile.
    const isRead = (token: Address) => prices.get(token) === now?.get(token);
    const wanted = new Set(priced);
    const known = new Map(before?.entries().filter(([token]) => wanted.has(token) && isRead(token)));
    const others = priced.filter((token) => !known.has(token));
    const found = await Promise.all([
      addHopPrices(reads, chain, known, conditions, at),
      readTokenPrices(reads, chain, others, conditions, at),
    ]);
    return addMissingBalances(sources, chain, new Map(found.flatMap((some) => [...some])), conditions, at);
  };
  const [facts, earlier] = await Promise.all([
    readPricedTokens(reads, chain, [...priced, ...hopTokens]),
    priced.length === 0 || earlierPlace === null ? null : readEarlier(earlierPlace),
  ]);
  return { prices, facts, earlier };
}

type PriceOf = (token: Address) => Promise<FoundPrice | Refused>;

function remembered<Key, Value>(
  known: Map<Key, Promise<Value>>,
  key: Key,
  read: () => Promise<Value>,
): Promise<Value> {
  const found = known.get(key) ?? read();
  known.set(key, found);
  return found;
}

async function readPricedTokens(
  database: ReadDatabase,
  chain: Chain,
  tokens: readonly Address[],
): Promise<(token: Address) => { readonly facts: TokenFacts; readonly isDecided: boolean }> {
  const chainId = sql`${chain.id}::bigint`;
  const forms = [...new Set(tokens.flatMap((token) => formsOf(token, chain)))];
  const keys = sql`${forms.map(addressKey)}::bigint[]`;
  const ofTokens = SIDES.map(
    (side) => sql`SELECT ${side} AS key ${unproven(chainId)} AND ${side} = ANY (${keys})`,
  );
  const ofUnknown = SIDES.map((side) => sql`(SELECT NULL ${unproven(chainId)} AND ${side} IS NULL LIMIT 1)`);
  const statement = sql`WITH undecided AS MATERIALIZED (${joinSql([...ofTokens, ...ofUnknown], ' UNION ')})
     SELECT (SELECT coalesce(json_agg(key::text), '[]') FROM undecided) AS undecided,
       ${tokensOf(sql`SELECT unnest(${tokens.map(addressBytes)}::bytea[])`, chainId)} AS facts`;
  const [row] = tokens.length === 0 ? [] : await database.select<PricedRow>(statement);
  const undecided = new Set(row?.undecided);
  const { name, symbol, decimals } = chain.native;
  // The wrapped token too has the native token's names until its own are read.
  const natives = formsOf(shownToken(ZERO_ADDRESS, chain), chain).map(
    (address): TokenFacts => ({ ...UNKNOWN_TOKEN, address, name, symbol, decimals }),
  );
  const tokenOf = tokenBook([...natives, ...readTokens(row?.facts ?? null)]);
  return (token) => ({
    facts: tokenOf(token),
    isDecided:
      row !== undefined &&
      !undecided.has(null) &&
      formsOf(token, chain).every((form) => !undecided.has(addressKey(form))),
  });
}

interface PricedRow {
  /** Keys of tokens with a pool that waits for its proof. Null: its tokens are unknown. */
  readonly undecided: readonly (string | null)[];
  readonly facts: PackedTokens;
}

const SIDES = [sql`address_key(token0)`, sql`address_key(token1)`];

function unproven(chainId: Sql): Sql {
  return sql`FROM pools WHERE chain_id = ${chainId} AND status = 'unproven'`;
}

export function priceLimits(descriptions: { readonly inactivity: string; readonly depth: string }) {
  return {
    max_token_inactivity: textParameter('a number from 0', (given) =>
      DECIMAL.test(given) ? Number(given) : undefined,
    )
      .optional()
      .openapi({ type: 'number', description: descriptions.inactivity }),
    min_pair_side_liquidity_usd: textParameter('a number from 0', parseDecimal)
      .optional()
      .openapi({ type: 'number', description: descriptions.depth }),
  };
}

export const finalParameter = () =>
  booleanParameter({
    default: false,
    description: 'Returns no price that missing blocks, proofs or balances may still change.',
  });

export interface PriceLimits {
  /** Days. */
  readonly max_token_inactivity?: number | undefined;
  /** US dollars. */
  readonly min_pair_side_liquidity_usd?: Fraction | undefined;
  readonly final?: boolean | undefined;
}

const DECIMAL = /^\d{1,12}(\.\d{1,6})?$/;

const parseDecimal = (given: string) => (DECIMAL.test(given) ? readDecimal(given) : undefined);
