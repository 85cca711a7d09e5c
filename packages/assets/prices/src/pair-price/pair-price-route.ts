import type { Chain } from '@chainstead/chains';
import {
  type Address,
  compareFractions,
  type Fraction,
  invertFraction,
  smallerFraction,
  ZERO_ADDRESS,
} from '@chainstead/core';
import { addressParameter, blockParameter, inside, NotFoundError, view, wire } from '@chainstead/http';
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
import { defineRoute } from '../routes.ts';
import {
  type PriceMoment,
  type PricePlace,
  readPlace,
  STATES_DATASET,
} from '../token-price/place/price-place.ts';
import { type PriceSources, priceSourcesOf } from '../token-price/read/prices-with-balances.ts';
import { readTokenPrices } from '../token-price/read/read-hop-prices.ts';
import { dollarsOf } from '../token-price/read/token-price.ts';
import { plain } from '../token-price/serve/shown-values.ts';

const { address, flag, nothing, numeral, text } = wire;
const time = wire.wire(z.string(), (date: Date) => date.toISOString());

interface TokenOfPair {
  /** The wrapped native token stands for the native token. */
  readonly shown: Address;
  readonly record: TokenRecord | null;
  readonly facts: Pick<TokenRecord, 'name' | 'symbol' | 'decimals'> | null;
}

const tokenView = (name: string) =>
  view(name, (token: TokenOfPair) => token, {
    address: address('Token contract', ({ shown }) => shown),
    name: text.orNull('Name of the token', ({ facts }) => facts?.name ?? null),
    symbol: text.orNull('Symbol of the token', ({ facts }) => facts?.symbol ?? null),
    decimals: numeral.orNull('Decimals of the token', ({ facts }) => facts?.decimals ?? null),
    logo: text.orNull('Logo from an imported token list', ({ record }) => record?.logo ?? null),
    logo_hash: nothing('Always null: not available', () => null),
    thumbnail: text.orNull('Same as logo', ({ record }) => record?.logo ?? null),
    created_at: time.orNull(
      'Time of the creation block. null until it is found',
      ({ record }) => record?.createdAt ?? null,
    ),
    possible_spam: flag('Whether the token is flagged as spam', ({ record }) => record?.possibleSpam ?? false),
    verified_contract: flag(
      'Whether an imported list verifies the token',
      ({ record }) => record?.verified ?? false,
    ),
  });

interface FoundPairPrice {
  readonly pair: PairOfTokens;
  readonly base: TokenOfPair;
  readonly quote: TokenOfPair;
  /** Quote tokens per base token. */
  readonly price: Fraction;
  /** US dollars per base token; null: unknown. */
  readonly usd: Fraction | null;
}

/** docs/api/prices.md#price-of-a-pair */
const pairPriceView = view('PairPrice', (found: FoundPairPrice) => found, {
  pair_address: text('Address of the pool, or its 32-byte id at a pool manager', ({ pair }) => pair.pool),
  pair_label: text.orNull('Symbols of both tokens. null until both are known', ({ base, quote }) => {
    const [left = null, right = null] = [base.facts?.symbol, quote.facts?.symbol];
    return left === null || right === null ? null : `${left}/${right}`;
  }),
  exchange: text.orNull('Name of the exchange', ({ pair }) => pair.exchange),
  quote_price: plain('Second token of the path per first one, by the state of the pool', ({ price }) => price),
  price_usd: plain.orNull(
    'Price of the first token in US dollars, as in getTokenPrice. null: unknown',
    ({ usd }) => usd,
  ),
  base_token: inside(tokenView('PairPriceBaseToken'))('First token of the path', ({ base }) => base),
  quote_token: inside(tokenView('PairPriceQuoteToken'))('Second token of the path', ({ quote }) => quote),
});

/** docs/api/prices.md#price-of-a-pair */
export const pairPriceRoute = defineRoute({
  path: '/api/v2.2/{token0_address}/{token1_address}/price',
  operationId: 'getPairPrice',
  tag: 'Tokens',
  summary: 'Get the price of a pair',
  description:
    'Price by the state of one proven pool at the end of a block: the deepest one of all exchanges, or of the given exchange. The time rule of token prices applies to price_usd only. Returns 404 if no pool or state is known.',
  params: [
    {
      token0_address: addressParameter().openapi({ description: 'Address of the priced token.' }),
      token1_address: addressParameter().openapi({ description: 'Address of the token that the price is in.' }),
    },
  ],
  query: [
    'chain',
    {
      to_block: blockParameter(
        'Block of the price, inclusive. Takes precedence over to_date. Default: the newest.',
      ).openapi({ type: 'string', pattern: '^[0-9]+$' }),
      to_date: 'toDate',
      exchange: z
        .string()
        .optional()
        .openapi({ description: 'Name of an exchange (uniswapv2, …) or address of its factory.' }),
    },
  ],
  datasets: [STATES_DATASET],
  response: { description: 'Price of the pair', schema: pairPriceView.schema },
  errors: [404],
  async answer({ token0_address: base, token1_address: quote, chain, exchange = '', services, ...request }) {
    const { reads, database, logger } = request;
    const factories = exchange === '' ? null : factoriesOf(exchange, chain);
    if (factories?.length === 0) throw unknownExchange(chain, exchange);
    const { place } = await readPlace(reads, chain, momentOf(request), chain.pricing.windowSeconds);
    if (place === null) throw new NotFoundError(NO_STATE);
    const tokens = [base, quote] as const;
    const sources = priceSourcesOf({ reads: database, database, logger }, services);
    const pair =
      factories === null
        ? await readDeepestPair(sources, chain, tokens, place)
        : await getPairOfTokens(reads, chain, tokens, factories, { toBlock: place.block, toDate: null });
    if (pair === null) throw pairNotFound(request.api.chains, chain);
    const ratio = await getPoolPrice(reads, chain, pair, { from: place.runStart, to: place.block });
    if (ratio === null) throw new NotFoundError(NO_STATE);
    const conditions = { factories: null, rules: chain.pricing };
    return pairPriceView.show({
      pair,
      base: tokenOf(base, pair, chain),
      quote: tokenOf(quote, pair, chain),
      price: formsOf(base, chain).includes(pair.token0) ? ratio : invertFraction(ratio),
      usd: dollarsOf((await readTokenPrices(reads, chain, [base], conditions, place)).get(base)),
    });
  },
});

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

function tokenOf(token: Address, { tokens }: PairOfTokens, chain: Chain): TokenOfPair {
  const shown = shownToken(token, chain);
  const record = tokens.find(({ address: known }) => known === token) ?? null;
  const isNative = shown === shownToken(ZERO_ADDRESS, chain);
  return { shown, record, facts: record ?? (isNative ? chain.native : null) };
}
