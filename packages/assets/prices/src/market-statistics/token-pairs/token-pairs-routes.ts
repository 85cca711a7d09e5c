import type { Chain } from '@chainstead/chains';
import { addFractions, type Fraction, invertFraction, multiplyFractions, wholeFraction } from '@chainstead/core';
import { hexBytes, joinSql, type ReadDatabase, rawSql, sql } from '@chainstead/db';
import { each, indexedBlocks, limitParameter, view, wire } from '@chainstead/http';
import {
  EVERY_SWAP,
  isTrade,
  type PoolId,
  pairAddress,
  pairLabel,
  poolKey,
  refuseCursor,
  type TimeSpan,
} from '@chainstead/markets/requests';
import { fromDateBound, type Indexed } from '@chainstead/pages';
import type { TokenFacts } from '@chainstead/tokens/token-book';
import { z } from '@hono/zod-openapi';
import { defineListRoute, defineRoute } from '../../routes.ts';
import { STATES_DATASET } from '../../token-price/place/price-place.ts';
import { priceSourcesOf } from '../../token-price/read/prices-with-balances.ts';
import { changeBetween, figure } from '../../token-price/serve/shown-values.ts';
import { DAY_SECONDS, spanBefore } from '../pools/stored-pools.ts';
import { volumeOf } from '../token-analytics/read-token-spans.ts';
import {
  comparePairs,
  type ListedPair,
  positionOf,
  type RankedPool,
  rankPools,
  readListedPairs,
} from './token-pairs.ts';

interface TokenOfPair {
  readonly token: TokenFacts;
  readonly side: 'token0' | 'token1';
  readonly value: Fraction | null;
}

const { address, described, flag, integer, number, numeral, text } = wire;
const side = wire.wire(z.enum(['token0', 'token1']));

const tokenView = view('PairedToken', (token: TokenOfPair) => token, {
  token_address: address(
    'Token contract. The wrapped native token stands for the native token',
    ({ token }) => token.address,
  ),
  token_name: text.orNull('Name of the token', ({ token }) => token.name),
  token_symbol: text.orNull('Symbol of the token', ({ token }) => token.symbol),
  token_logo: text.orNull('Logo from an imported token list', ({ token }) => token.logo),
  token_decimals: numeral.orNull('Decimals of the token', ({ token }) => token.decimals),
  pair_token_type: side('Place of the token in the pool', (token) => token.side),
  liquidity_usd: figure.orNull('US dollars of the token in the pool. null: unknown', ({ value }) => value),
});

/** @param native US dollars per native token; null: unknown */
function pairOf({ pool, values, before, trades }: ListedPair, native: Fraction | null) {
  const [price, earlier] = [values.usd[pool.baseSide], before?.usd[pool.baseSide] ?? null];
  return {
    ...{ pool, values, trades, native, price, earlier },
    change: price === null || earlier === null ? null : changeBetween(earlier, price),
    volume: volumeOf(trades),
  };
}

const pairView = view('TokenPair', pairOf, {
  exchange_name: text.orNull('Name of the exchange', ({ pool }) => pool.exchange),
  exchange_address: address.orNull('Factory, vault or pool manager of the exchange', ({ pool }) => pool.factory),
  exchange_logo: text.orNull('Always null: not available', () => null),
  pair_address: pairAddress(({ pool }) => pool.pool),
  pair_label: text.orNull('Symbols of base and quote token. null until both are known', ({ pool }) =>
    pairLabel(pool.base, pool.quote),
  ),
  usd_price: figure.orNull('US dollars per whole base token in this pool. null: unknown', ({ price }) => price),
  usd_price_24hr: figure.orNull('The same 24 hours before. null: unknown', ({ earlier }) => earlier),
  usd_price_24hr_percent_change: number.orNull(
    'Change since then, in percent. null: unknown',
    ({ change }) => change?.percent ?? null,
  ),
  usd_price_24hr_usd_change: number.orNull(
    'Change since then, in US dollars. null: unknown',
    ({ change }) => change?.dollars ?? null,
  ),
  liquidity_usd: figure.orNull(
    'US dollars on both sides of the pool. 0 if liquidity_skew is below 0.005. null: unknown',
    ({ values }) => values.liquidity,
  ),
  liquidity_skew: figure.orNull(
    '1: both sides are worth the same. 0: one is empty. null: unknown',
    ({ values }) => values.skew,
  ),
  inactive_pair: flag(
    'Whether the pool had no swap in the last 24 hours',
    ({ trades }) => trades.buys + trades.sells === 0,
  ),
  base_token: address('Base token of the pool', ({ pool }) => pool.base.address),
  quote_token: address('Quote token of the pool', ({ pool }) => pool.quote.address),
  volume_24h_native: figure.orNull(
    'Swaps of the last 24 hours in native tokens, at its newest price. null: unknown',
    ({ volume, native }) =>
      volume === null || native === null || native.numerator === 0n
        ? null
        : multiplyFractions(volume, invertFraction(native)),
  ),
  volume_24h_usd: figure.orNull(
    'Swaps of the last 24 hours in US dollars. null: unknown',
    ({ volume }) => volume,
  ),
  pair: each(tokenView, (list) => list.length(2))('Token 0 and token 1', ({ pool, values }) =>
    ([0, 1] as const).map((place) => ({
      token: pool.tokens[place],
      side: place === 0 ? 'token0' : 'token1',
      value: values.sides[place],
    })),
  ),
});

const LIMIT_DEFAULT = 50;
const LIMIT_MAX = 100;

/** docs/api/market-statistics.md#pairs-of-a-token */
export const tokenPairsRoute = defineListRoute({
  path: '/api/v2.2/erc20/{token_address}/pairs',
  operationId: 'getTokenPairs',
  tag: 'Tokens',
  summary: 'List pairs of a token',
  description:
    'Proven pools of a token with any other one, the deepest first. All pages of a run have the values of the newest block of its first page. A token with more than 500 pools has those with the newest trades.',
  params: [{ token_address: 'address' }],
  query: ['chain', { limit: limitParameter(LIMIT_DEFAULT, LIMIT_MAX).openapi({ maximum: LIMIT_MAX }) }],
  name: 'TokenPairs',
  response: 'A page of pairs',
  datasets: [EVERY_SWAP, STATES_DATASET],
  limitDefault: LIMIT_DEFAULT,
  firstPage: 1,
  position: z.object({ liquidity: z.number().nullable(), pool: z.string() }),
  refusal: refuseCursor,
  async read({ chain, token_address: token, services, query: { limit, after, pinnedBlock }, ...request }) {
    const sources = priceSourcesOf(request, services);
    const ranked = await rankPools(sources, chain, token, pinnedBlock);
    const later = ranked.pools.filter((pool) => after === null || comparePairs(positionOf(pool), after) > 0);
    const page = later.slice(0, limit);
    const last = page.at(-1);
    const hasMore = later.length > limit && last !== undefined && ranked.place !== null;
    return {
      ...(await readListedPairs(sources, chain, page, ranked)),
      indexed: ranked.indexed,
      next: hasMore ? { position: { ...positionOf(last) }, upperBound: pinnedBlock ?? ranked.place.block } : null,
    };
  },
  view: pairView,
  row: (pair, { native }) => [pair, native],
  fields: ({ cursor, page_size, page, indexed, result }) => ({
    cursor,
    page_size: described(page_size, 'Maximum number of pairs on the page'),
    page,
    indexed,
    pairs: described(result, 'Pools, the deepest first'),
  }),
});

/** @param active pools with a swap in the last 24 hours */
function totalsOf(pools: readonly RankedPool[], active: ReadonlySet<string>, blocks: Indexed) {
  return { pools, moved: pools.filter(({ pool }) => active.has(pool.pool)), blocks };
}

const totals = view(
  { name: 'AggregatedTokenPairStats', description: 'Totals over the pools of a token' },
  totalsOf,
  {
    total_liquidity_usd: figure('US dollars in the pools of known liquidity', ({ pools }) =>
      pools.reduce((sum, { values: { liquidity } }) => (liquidity ? addFractions(sum, liquidity) : sum), NOTHING),
    ),
    total_active_pairs: integer('Number of pools with a swap in the last 24 hours', ({ moved }) => moved.length),
    total_active_dexes: integer(
      'Number of exchanges of these pools',
      ({ moved }) => new Set(moved.map(({ pool }) => pool.exchange)).size,
    ),
    indexed: indexedBlocks(({ blocks }) => blocks),
  },
);

const NOTHING = wholeFraction(0n);

/** docs/api/market-statistics.md#totals-of-a-token */
export const aggregatedPairStatsRoute = defineRoute({
  path: '/api/v2.2/erc20/{token_address}/pairs/stats',
  operationId: 'getAggregatedTokenPairStats',
  tag: 'Tokens',
  summary: 'Get totals over the pairs of a token',
  description:
    'Liquidity of the pools that getTokenPairs lists, and numbers of pools and exchanges with a swap in the last 24 hours.',
  params: [{ token_address: 'address' }],
  query: ['chain'],
  datasets: [EVERY_SWAP, STATES_DATASET],
  response: { description: 'Totals', schema: totals.schema },
  async answer({ token_address: token, chain, services, ...request }) {
    const ranked = await rankPools(priceSourcesOf(request, services), chain, token, null);
    const { pools, place } = ranked;
    const ids = pools.map(({ pool }) => pool.pool);
    const blocks = place && { from: spanBefore(place, DAY_SECONDS).from, lastBlock: place.block };
    const active = blocks === null ? new Set<string>() : await readActivePools(request.reads, chain, ids, blocks);
    return totals.show(pools, active, ranked.indexed);
  },
});

const POOLS_PER_STATEMENT = 64;

async function readActivePools(
  database: ReadDatabase,
  chain: Chain,
  pools: readonly PoolId[],
  { from, lastBlock }: Pick<TimeSpan, 'from'> & { readonly lastBlock: number },
): Promise<ReadonlySet<PoolId>> {
  const active = new Set<PoolId>();
  for (let start = 0; start < pools.length; start += POOLS_PER_STATEMENT) {
    const some = pools.slice(start, start + POOLS_PER_STATEMENT);
    const chainId = sql`${chain.id}::bigint`;
    const last = sql`${lastBlock}::bigint`;
    const date = fromDateBound(chainId, sql`to_timestamp(${from}::float8)`);
    const ranges = some.map((pool, position) => {
      const ofPool = sql`pool_key = ${poolKey(pool)}::bigint AND chain_id = ${chainId} AND pool = ${hexBytes(pool)}::bytea`;
      return sql`(SELECT ${rawSql(position)} AS position FROM swaps WHERE ${ofPool}
        AND block_number >= (SELECT block FROM from_date) AND block_number <= ${last} AND ${isTrade()} LIMIT 1)`;
    });
    const rows = await database.select<{ readonly position: number }>(
      sql`WITH ${date} ${joinSql(ranges, ' UNION ALL ')}`,
    );
    for (const { position } of rows) {
      const pool = some[position];
      if (pool !== undefined) active.add(pool);
    }
  }
  return active;
}
