import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import { hexBytes, joinSql, type ReadDatabase, rawSql, sql } from '@chainstead/db';
import type { BalanceRequestSources } from '@chainstead/erc20/requests';
import { defineListRoute, defineRoute, limitParameter, querySchema, type RouteModule } from '@chainstead/http';
import {
  EVERY_SWAP,
  isTrade,
  type PoolId,
  poolKey,
  refuseCursor,
  type TimeSpan,
} from '@chainstead/markets/requests';
import { fromDateBound } from '@chainstead/pages';
import { z } from '@hono/zod-openapi';
import { STATES_DATASET } from '../../token-price/place/price-place.ts';
import { priceSourcesOf } from '../../token-price/read/prices-with-balances.ts';
import { DAY_SECONDS, spanBefore } from '../pools/stored-pools.ts';
import { comparePairs, positionOf, rankPools, readListedPairs } from './token-pairs.ts';
import {
  aggregatedPairStatsSchema,
  type ShownPairs,
  showAggregatedStats,
  showTokenPairs,
  tokenPairsSchema,
} from './token-pairs-response.ts';

const LIMIT_DEFAULT = 50;
const LIMIT_MAX = 100;

/** docs/api/market-statistics.md#pairs-of-a-token */
export function createTokenPairsRoute(balances: BalanceRequestSources): RouteModule {
  return (app, dependencies) => {
    const { parameters } = dependencies;
    defineListRoute(app, dependencies, {
      path: '/api/v2.2/erc20/{token_address}/pairs',
      operationId: 'getTokenPairs',
      tags: ['Tokens'],
      summary: 'List pairs of a token',
      description:
        'Proven pools of a token with any other one, the deepest first. All pages of a run have the values of the newest block of its first page. A token with more than 500 pools has those with the newest trades.',
      params: z.object({ token_address: parameters.address }),
      query: querySchema({
        chain: parameters.chain,
        limit: limitParameter(LIMIT_DEFAULT, LIMIT_MAX).openapi({ maximum: LIMIT_MAX }),
        cursor: parameters.cursor,
      }),
      response: { description: 'A page of pairs', schema: tokenPairsSchema },
      datasets: [EVERY_SWAP, STATES_DATASET],
      limitDefault: LIMIT_DEFAULT,
      firstPage: 1,
      cursorName: 'token-pairs',
      filter: z.object({ token_address: z.string(), chain: z.string().default('eth') }),
      filterOf: ({ token_address, chain }) => ({ token_address, chain: chain?.key }),
      position: z.object({ liquidity: z.number().nullable(), pool: z.string() }),
      refusal: refuseCursor,
      read: async ({ chain, filter, limit, position, upperBound }): Promise<FoundPairs> => {
        const sources = priceSourcesOf(dependencies, balances);
        const ranked = await rankPools(sources, chain, filter.token_address as Address, upperBound);
        const later = ranked.pools.filter(
          (pool) => position === null || comparePairs(positionOf(pool), position) > 0,
        );
        const page = later.slice(0, limit);
        const last = page.at(-1);
        const hasMore = later.length > limit && last !== undefined && ranked.place !== null;
        return {
          ...(await readListedPairs(sources, chain, page, ranked)),
          indexed: ranked.indexed,
          next: hasMore
            ? { position: { ...positionOf(last) }, upperBound: upperBound ?? ranked.place.block }
            : null,
        };
      },
      present: (found, envelope) => showTokenPairs(found, envelope),
    });
  };
}

interface FoundPairs extends ShownPairs {
  readonly next: {
    readonly position: { liquidity: number | null; pool: string };
    readonly upperBound: number;
  } | null;
}

/** docs/api/market-statistics.md#totals-of-a-token */
export function createAggregatedPairStatsRoute(balances: BalanceRequestSources): RouteModule {
  return (app, dependencies) => {
    const { parameters, reads } = dependencies;
    defineRoute(app, dependencies, {
      path: '/api/v2.2/erc20/{token_address}/pairs/stats',
      operationId: 'getAggregatedTokenPairStats',
      tags: ['Tokens'],
      summary: 'Get totals over the pairs of a token',
      description:
        'Liquidity of the pools that getTokenPairs lists, and numbers of pools and exchanges with a swap in the last 24 hours.',
      params: { token_address: parameters.address },
      query: { chain: parameters.chain },
      datasets: [EVERY_SWAP, STATES_DATASET],
      response: { description: 'Totals', schema: aggregatedPairStatsSchema },
      async answer({ token_address: token, chain }) {
        const { pools, place, indexed } = await rankPools(
          priceSourcesOf(dependencies, balances),
          chain,
          token,
          null,
        );
        const ids = pools.map(({ pool }) => pool.pool);
        const blocks = place && { from: spanBefore(place, DAY_SECONDS).from, lastBlock: place.block };
        const active = blocks === null ? new Set<string>() : await readActivePools(reads, chain, ids, blocks);
        return showAggregatedStats(pools, active, indexed);
      },
    });
  };
}

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
