import type { Chain } from '@chainstead/chains';
import { type Address, compareFractions, type Fraction, smallerFraction, ZERO_ADDRESS } from '@chainstead/core';
import type { BalanceRequestSources } from '@chainstead/erc20/requests';
import { defineRoute, NotFoundError, type RouteModule } from '@chainstead/http';
import {
  exchangesOf,
  factoriesOf,
  formsOf,
  getPairOfTokens,
  getPoolPrice,
  listPairsOfTokens,
  nativeTokenOf,
  PAIR_NOT_FOUND,
  type PairOfTokens,
  pairNotFound,
  shownToken,
  type TokenRecord,
  unknownExchange,
  withTokenRecords,
} from '@chainstead/markets/requests';
import { readTokenBook } from '@chainstead/tokens/token-book';
import { z } from '@hono/zod-openapi';
import { readPoolValues } from '../pool-values/read-pool-values.ts';
import {
  type PriceMoment,
  type PricePlace,
  readPlace,
  STATES_DATASET,
} from '../token-price/place/price-place.ts';
import { type PriceSources, priceSourcesOf } from '../token-price/read/prices-with-balances.ts';
import { readTokenPrices } from '../token-price/read/read-hop-prices.ts';
import { dollarsOf } from '../token-price/read/token-price.ts';
import { plainDecimal } from '../token-price/serve/shown-values.ts';

/** docs/api/prices.md#price-of-a-pair */
export function createPairPriceRoute(balances: BalanceRequestSources): RouteModule {
  return (app, dependencies) => {
    const { chains, parameters, reads } = dependencies;
    defineRoute(app, dependencies, {
      path: '/api/v2.2/{token0_address}/{token1_address}/price',
      operationId: 'getPairPrice',
      tags: ['Tokens'],
      summary: 'Get the price of a pair',
      description:
        'Price by the state of one proven pool at the end of a block: the deepest one of all exchanges, or of the given exchange. The time rule of token prices applies to price_usd only. Returns 404 if no pool or state is known.',
      params: {
        token0_address: parameters.address.openapi({ description: 'Address of the priced token.' }),
        token1_address: parameters.address.openapi({ description: 'Address of the token that the price is in.' }),
      },
      query: {
        chain: parameters.chain,
        to_block: parameters.toBlock.openapi({
          type: 'string',
          pattern: '^[0-9]+$',
          description: 'Block of the price, inclusive. Takes precedence over to_date. Default: the newest.',
        }),
        to_date: parameters.toDate,
        exchange: z
          .string()
          .optional()
          .openapi({ description: 'Name of an exchange (uniswapv2, …) or address of its factory.' }),
      },
      datasets: [STATES_DATASET],
      response: { description: 'Price of the pair', schema: pairPriceSchema },
      errors: [404],
      async answer({ token0_address: base, token1_address: quote, chain, exchange = '', ...query }) {
        const factories = exchange === '' ? null : factoriesOf(exchange, chain);
        if (factories?.length === 0) throw unknownExchange(chain, exchange);
        const { place } = await readPlace(reads, chain, momentOf(query), chain.pricing.windowSeconds);
        if (place === null) throw new NotFoundError(NO_STATE);
        const at = { toBlock: place.block, toDate: null };
        const tokens = [base, quote] as const;
        const pair =
          factories === null
            ? await readDeepestPair(
                priceSourcesOf({ ...dependencies, reads: dependencies.database }, balances),
                chain,
                tokens,
                place,
              )
            : await getPairOfTokens(reads, chain, tokens, factories, at);
        if (pair === null) throw pairNotFound(chains, chain);
        const ratio = await getPoolPrice(reads, chain, pair, { from: place.runStart, to: place.block });
        if (ratio === null) throw new NotFoundError(NO_STATE);
        const conditions = { factories: null, rules: chain.pricing };
        const usd = dollarsOf((await readTokenPrices(reads, chain, [base], conditions, place)).get(base));
        return showPairPrice(pair, chain, [base, quote], ratio, usd);
      },
    });
  };
}

const NO_STATE = `${PAIR_NOT_FOUND}: no state of it is indexed at or before the requested block`;

function momentOf(query: {
  readonly to_block?: number | undefined;
  readonly to_date?: Date | undefined;
}): PriceMoment {
  if (query.to_block !== undefined) return { of: 'block', block: query.to_block };
  return query.to_date === undefined ? { of: 'newest' } : { of: 'time', time: query.to_date.getTime() / 1_000 };
}

const RESERVE_FAMILIES: readonly string[] = ['v2', 'solidly-1', 'solidly-2'];

/** By US dollars of the smaller side, else by reserves, then by the liquidity in range. */
async function readDeepestPair(
  sources: PriceSources,
  chain: Chain,
  tokens: readonly [Address, Address],
  place: PricePlace,
): Promise<PairOfTokens | null> {
  const { reads } = sources;
  const all = exchangesOf(chain).all;
  const factories = all.map(({ deployment }) => deployment.factory);
  const pairs = await listPairsOfTokens(reads, chain, tokens, factories);
  const tokensOfPairs = pairs.flatMap(({ token0, token1 }) => [token0, token1]);
  const factsOf = await readTokenBook(reads, chain, tokensOfPairs, nativeTokenOf(chain));
  const pools = pairs.map((pair) => ({
    ...pair,
    decimals: [factsOf(pair.token0).decimals, factsOf(pair.token1).decimals] as const,
  }));
  const values = await readPoolValues(sources, chain, pools, place);
  const known = pairs.flatMap((pair) => {
    const [side0 = null, side1 = null] = values.get(pair.pool)?.sides ?? [];
    if (side0 === null || side1 === null) return [];
    const depth = smallerFraction(side0, side1);
    return depth.numerator === 0n ? [] : [{ pair, depth }];
  });
  const [deepest] = known.toSorted(
    (a, b) => compareFractions(b.depth, a.depth) || (a.pair.pool < b.pair.pool ? -1 : 1),
  );
  if (deepest !== undefined) return withTokenRecords(reads, chain, deepest.pair);
  const at = { toBlock: place.block, toDate: null };
  const withReserves = all
    .filter(({ exchange: { family } }) => RESERVE_FAMILIES.includes(family.name))
    .map(({ deployment }) => deployment.factory);
  return (
    (await getPairOfTokens(reads, chain, tokens, withReserves, at)) ??
    (await getPairOfTokens(reads, chain, tokens, factories, at))
  );
}

const text = (description: string) => z.string().nullable().openapi({ description });

const tokenSchema = (name: string) =>
  z
    .object({
      address: z.string().openapi({ pattern: '^0x[0-9a-f]{40}$', description: 'Token contract' }),
      name: text('Name of the token'),
      symbol: text('Symbol of the token'),
      decimals: text('Decimals of the token'),
      logo: text('Logo from an imported token list'),
      logo_hash: z.null().openapi({ description: 'Always null: not available' }),
      thumbnail: text('Same as logo'),
      created_at: text('Time of the creation block. null until it is found'),
      possible_spam: z.boolean().openapi({ description: 'Whether the token is flagged as spam' }),
      verified_contract: z.boolean().openapi({ description: 'Whether an imported list verifies the token' }),
    })
    .openapi(name);

/** docs/api/prices.md#price-of-a-pair */
const pairPriceSchema = z
  .object({
    pair_address: z.string().openapi({ description: 'Address of the pool, or its 32-byte id at a pool manager' }),
    pair_label: text('Symbols of both tokens. null until both are known'),
    exchange: text('Name of the exchange'),
    quote_price: z
      .string()
      .openapi({ description: 'Second token of the path per first one, by the state of the pool' }),
    price_usd: text('Price of the first token in US dollars, as in getTokenPrice. null: unknown'),
    base_token: tokenSchema('PairPriceBaseToken').openapi({ description: 'First token of the path' }),
    quote_token: tokenSchema('PairPriceQuoteToken').openapi({ description: 'Second token of the path' }),
  })
  .openapi('PairPrice');

/** @param ratio tokens 1 of the pool per token 0 @param usd per base token; null: unknown */
function showPairPrice(
  pair: PairOfTokens,
  chain: Chain,
  [base, quote]: readonly [Address, Address],
  ratio: Fraction,
  usd: Fraction | null,
): z.infer<typeof pairPriceSchema> {
  const isBase0 = formsOf(base, chain).includes(pair.token0);
  const price = isBase0 ? ratio : { numerator: ratio.denominator, denominator: ratio.numerator };
  const [shownBase, shownQuote] = [showToken(base, pair.tokens, chain), showToken(quote, pair.tokens, chain)];
  const [left, right] = [shownBase.symbol, shownQuote.symbol];
  return {
    pair_address: pair.pool,
    pair_label: left === null || right === null ? null : `${left}/${right}`,
    exchange: pair.exchange,
    quote_price: plainDecimal(price),
    price_usd: usd === null ? null : plainDecimal(usd),
    base_token: shownBase,
    quote_token: shownQuote,
  };
}

function showToken(
  token: Address,
  records: readonly TokenRecord[],
  chain: Chain,
): z.infer<ReturnType<typeof tokenSchema>> {
  const isNative = shownToken(token, chain) === shownToken(ZERO_ADDRESS, chain);
  const known = records.find(({ address }) => address === token);
  const { name, symbol, decimals } = known ?? (isNative ? chain.native : UNKNOWN);
  return {
    address: shownToken(token, chain),
    ...{ name, symbol, decimals: decimals === null ? null : String(decimals) },
    logo: known?.logo ?? null,
    logo_hash: null,
    thumbnail: known?.logo ?? null,
    created_at: known?.createdAt?.toISOString() ?? null,
    possible_spam: known?.possibleSpam ?? false,
    verified_contract: known?.verified ?? false,
  };
}

const UNKNOWN = { name: null, symbol: null, decimals: null };
