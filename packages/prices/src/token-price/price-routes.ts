import type { Chain } from '@chainstead/chains';
import { type Address, type Fraction, parseAddress, ZERO_ADDRESS } from '@chainstead/core';
import { indexedHeaders } from '@chainstead/data-api';
import { addressBytes, type Bind, type ReadDatabase } from '@chainstead/db';
import type { BalanceRequestSources } from '@chainstead/erc20';
import {
  type ApiApp,
  type ApiDependencies,
  booleanParameter,
  errorResponses,
  indexedChain,
  querySchema,
  type RouteModule,
  refuseBody,
  textParameter,
} from '@chainstead/http';
import { factoriesOf, undecidedPoolsOf, wrappedNativeOf } from '@chainstead/markets';
import { createRoute, z } from '@hono/zod-openapi';
import { DEFAULT_PRICING_RULES } from './decide-price.ts';
import { type PriceMoment, type PricePlace, readPlace, STATES_DATASET } from './price-place.ts';
import { errorOf, type Refusal } from './price-refusals.ts';
import { type FoundPrice, type PricedToken, showTokenPrice, tokenPriceSchema } from './price-response.ts';
import { type PriceSources, readPriceWithBalances } from './price-with-balances.ts';
import type { TokenPrice } from './token-price.ts';

/**
 * Routes of prices (docs/api/prices.md). The first request for a token reads the balances of its pools with concentrated liquidity.
 */
export function createPriceRoutes(balances: BalanceRequestSources): readonly RouteModule[] {
  return [
    (app, dependencies) => addTokenPriceRoute(app, dependencies, balances),
    (app, dependencies) => addTokenPricesRoute(app, dependencies, balances),
  ];
}

/** `GET /api/v2.2/erc20/{address}/price`: price of a token at a block. */
function addTokenPriceRoute(app: ApiApp, dependencies: ApiDependencies, balances: BalanceRequestSources): void {
  const { chains, parameters } = dependencies;
  const route = createRoute({
    method: 'get',
    path: '/api/v2.2/erc20/{address}/price',
    operationId: 'getTokenPrice',
    tags: ['Tokens'],
    summary: 'Get the price of a token',
    description:
      'Price at the end of a block, from proven pools against dollar tokens and ether. A jump must hold for ten minutes. Returns 404 if no pool is deep enough.',
    request: {
      params: z.object({
        address: parameters.address.openapi({
          description: 'Token contract. The zero address and 0xeeee…eeee are the native token.',
        }),
      }),
      query: querySchema({
        ...priceQuery(parameters),
        exchange: z
          .string()
          .optional()
          .openapi({ description: 'Name of an exchange (uniswapv2, …) or address of its factory. Default: all.' }),
        to_block: parameters.toBlock.openapi({ description: 'Block of the price, inclusive. Default: the newest.' }),
        explain: booleanParameter({ default: false, description: 'Adds the considered pools and the exact price.' }),
      }),
    },
    responses: {
      200: { description: 'Price of the token', content: { 'application/json': { schema: tokenPriceSchema } } },
      ...errorResponses(400, 401, 404, 429, 500, 503),
    },
  });
  app.openapi(route, async (c) => {
    const { address } = c.req.valid('param');
    const query = c.req.valid('query');
    const chain = indexedChain(chains, query.chain?.key ?? DEFAULT_CHAIN, STATES_DATASET);
    const found = await createPriceReader(
      { ...dependencies, balances },
      chain,
      query,
    )({
      token: tokenOf(address),
      exchange: query.exchange ?? null,
      toBlock: query.to_block ?? null,
    });
    if ('refusal' in found) throw errorOf(found.refusal, found.newest);
    return c.json(showTokenPrice(found, chain, query.explain ?? false), 200);
  });
}

/** `POST /api/v2.2/erc20/prices`: prices of up to 100 tokens, in request order, without those that have none. */
function addTokenPricesRoute(app: ApiApp, dependencies: ApiDependencies, balances: BalanceRequestSources): void {
  const { chains, parameters, reads } = dependencies;
  const item = z.object({
    token_address: parameters.address.openapi({ description: 'Token contract, or the native token.' }),
    exchange: z.string().optional().openapi({ description: 'As in getTokenPrice.' }),
    to_block: z
      .union([
        z.int().min(0),
        z
          .string()
          .regex(/^\d{1,15}$/)
          .transform(Number),
      ])
      .optional()
      .openapi({ type: 'string', pattern: '^[0-9]+$', description: 'Block of the price. Default: the newest.' }),
  });
  const route = createRoute({
    method: 'post',
    path: '/api/v2.2/erc20/prices',
    operationId: 'getMultipleTokenPrices',
    tags: ['Tokens'],
    summary: 'Get prices of multiple tokens',
    description:
      'Prices of up to 100 tokens, in request order. Tokens without a price are left out. The headers X-Indexed-From-Block, X-Indexed-To-Block and X-Indexed-Complete report the indexed blocks.',
    request: {
      query: querySchema(priceQuery(parameters)),
      body: {
        required: true,
        content: { 'application/json': { schema: z.object({ tokens: z.array(item).min(1).max(TOKENS_MAX) }) } },
      },
    },
    responses: {
      200: { description: 'Prices', content: { 'application/json': { schema: z.array(tokenPriceSchema) } } },
      ...errorResponses(400, 401, 413, 429, 500, 503),
    },
  });
  app.openapi(
    route,
    async (c) => {
      const query = c.req.valid('query');
      const chain = indexedChain(chains, query.chain?.key ?? DEFAULT_CHAIN, STATES_DATASET);
      const read = createPriceReader({ ...dependencies, balances }, chain, query);
      const shown = [];
      for (const { token_address: address, exchange = null, to_block: toBlock = null } of c.req.valid('json').tokens) {
        const found = await read({ token: tokenOf(address), exchange, toBlock });
        if (!('refusal' in found)) shown.push(showTokenPrice(found, chain, false));
        else if (found.refusal === 'unknown-exchange' || found.refusal === 'beyond-head')
          throw errorOf(found.refusal, found.newest);
      }
      const { indexed } = await readPlace(reads, chain, { of: 'newest' }, DEFAULT_PRICING_RULES.windowSeconds);
      return c.json(shown, 200, indexedHeaders(indexed));
    },
    refuseBody('tokens', TOKENS_MAX),
  );
}

const DEFAULT_CHAIN = 'eth';
const TOKENS_MAX = 100;
const DAY_SECONDS = 86_400;
/** The native token, as wallets and aggregators write it. */
const NATIVE_BY_CUSTOM = parseAddress(`0x${'ee'.repeat(20)}`);

function priceQuery(parameters: ApiDependencies['parameters']) {
  return {
    chain: parameters.chain,
    include: z
      .enum(['percent_change'])
      .optional()
      .openapi({ description: 'Has no effect: changes are always returned.' }),
    max_token_inactivity: textParameter('a number of days', (given) =>
      DECIMAL.test(given) ? Number(given) : undefined,
    )
      .optional()
      .openapi({ type: 'number', description: 'Rejects a token whose pools have not moved for this number of days.' }),
    min_pair_side_liquidity_usd: textParameter('a number of US dollars', parseFraction)
      .optional()
      .openapi({ type: 'number', description: 'US dollars that each side of a pool must hold. Default: 500.' }),
  };
}

const DECIMAL = /^\d{1,12}(\.\d{1,6})?$/;

function parseFraction(given: string): Fraction | undefined {
  if (!DECIMAL.test(given)) return undefined;
  const [whole = '0', digits = ''] = given.split('.');
  return { numerator: BigInt(`${whole}${digits}`), denominator: 10n ** BigInt(digits.length) };
}

function tokenOf(address: Address): Address {
  return address === NATIVE_BY_CUSTOM ? ZERO_ADDRESS : address;
}

interface Refused {
  readonly refusal: Refusal;
  /** Newest indexed block. */
  readonly newest: number | null;
}

interface WantedPrice {
  readonly token: Address;
  readonly exchange: string | null;
  readonly toBlock: number | null;
}

interface PriceOptions {
  readonly max_token_inactivity?: number | undefined;
  readonly min_pair_side_liquidity_usd?: Fraction | undefined;
}

/** Returns a function that reads the prices of one request. Places and prices of the native token are read once. */
function createPriceReader(given: Omit<PriceSources, 'waitsUntil'>, chain: Chain, options: PriceOptions) {
  const sources = { ...given, waitsUntil: performance.now() + given.balances.waitMs };
  const { reads: database } = sources;
  const { max_token_inactivity: maxDays, min_pair_side_liquidity_usd: minSideDepth } = options;
  const rules = { ...DEFAULT_PRICING_RULES, ...(minSideDepth !== undefined && { minSideDepth }) };
  const places = new Map<string, ReturnType<typeof readPlace>>();
  const natives = new Map<number, Promise<Fraction | null>>();

  function placeAt(moment: PriceMoment): ReturnType<typeof readPlace> {
    return remembered(places, JSON.stringify(moment), () => readPlace(database, chain, moment, rules.windowSeconds));
  }

  function nativeAt(place: PricePlace): Promise<Fraction | null> {
    return remembered(natives, place.block, async () => {
      const query = { token: wrappedNativeOf(chain) ?? ZERO_ADDRESS, factories: null, rules: DEFAULT_PRICING_RULES };
      return dollarsOf(await readPriceWithBalances(sources, chain, query, place));
    });
  }

  return async ({ token, exchange, toBlock }: WantedPrice): Promise<FoundPrice | Refused> => {
    const factories = exchange === null || exchange === '' ? null : factoriesOf(exchange, chain);
    const { place, indexed } = await placeAt(toBlock === null ? { of: 'newest' } : { of: 'block', block: toBlock });
    const refuse = (refusal: Refusal): Refused => ({ refusal, newest: indexed.toBlock });
    if (factories?.length === 0) return refuse('unknown-exchange');
    if (toBlock !== null && indexed.toBlock !== null && toBlock > indexed.toBlock) return refuse('beyond-head');
    if (place === null) return refuse('no-pools');
    const query = { token, factories, rules };
    const price = await readPriceWithBalances(sources, chain, query, place);
    if (price.of === 'nothing') {
      const isNative = token === ZERO_ADDRESS || token === wrappedNativeOf(chain);
      return refuse(isNative ? 'no-native-price' : price.reason);
    }
    if (maxDays !== undefined && isInactive(price, place, maxDays)) return refuse('inactive');
    const earlier = (await placeAt({ of: 'time', time: place.time - DAY_SECONDS })).place;
    const { facts, isDecided } = await readFacts(database, chain, token);
    return {
      ...{ token, place, toBlock, price, facts },
      // An unproven pool might be the deepest one, and so might one of unknown depth.
      indexed: { ...indexed, complete: indexed.complete && isDecided && isDepthKnown(price) },
      native: await nativeAt(place),
      before: earlier === null ? null : dollarsOf(await readPriceWithBalances(sources, chain, query, earlier)),
    };
  };
}

/** Whether no pool of unknown depth might change the price. */
function isDepthKnown(price: TokenPrice): boolean {
  return price.of === 'anchor' || price.unknown.isFinal;
}

function remembered<Key, Value>(known: Map<Key, Promise<Value>>, key: Key, read: () => Promise<Value>): Promise<Value> {
  const found = known.get(key) ?? read();
  known.set(key, found);
  return found;
}

function dollarsOf(price: TokenPrice): Fraction | null {
  return price.of === 'nothing' ? null : price.usd;
}

function isInactive(price: TokenPrice, place: PricePlace, days: number): boolean {
  if (price.of !== 'pools') return false;
  const newest = Math.max(...price.pools.map(({ history }) => history.changedAt.since));
  return place.time - newest > days * DAY_SECONDS;
}

async function readFacts(
  database: ReadDatabase,
  chain: Chain,
  token: Address,
): Promise<{ readonly facts: PricedToken | null; readonly isDecided: boolean }> {
  const values: unknown[] = [];
  const bind: Bind = (value) => `$${values.push(value)}`;
  const chainId = `${bind(chain.id)}::bigint`;
  const [row] = await database.select<FactsRow>(
    `WITH undecided AS MATERIALIZED (${undecidedPoolsOf(token, chain, chainId, bind)}),
       known AS MATERIALIZED (SELECT name, symbol, logo, decimals, possible_spam, verified FROM tokens
         WHERE chain_id = ${chainId} AND address = ${bind(addressBytes(token))}::bytea)
     SELECT NOT EXISTS (SELECT FROM undecided) AS is_decided, (SELECT to_json(known) FROM known) AS facts`,
    values,
  );
  return { facts: row?.facts ?? null, isDecided: row?.is_decided ?? false };
}

interface FactsRow {
  readonly is_decided: boolean;
  readonly facts: PricedToken | null;
}
