import { systemClock } from '@chainstead/core';
import { defineRoute, type RouteModule, requireIndexes } from '@chainstead/http';
import { createMissingIndexes, indexedSchema, showIndexed } from '@chainstead/pages';
import type { OnDemandBackfill } from '@chainstead/pages/on-demand';
import type { SubjectProjections } from '@chainstead/sync/requests';
import { z } from '@hono/zod-openapi';
import { erc20Transfers } from '../dataset.ts';
import { BY_CONTRACT } from '../page/by-contract.ts';
import { getTokenStats } from './get-token-stats.ts';

export interface TokenStatsRouteOptions {
  readonly projections: SubjectProjections;
  readonly onDemandBackfill: Pick<OnDemandBackfill, 'requestContract'>;
}

/** docs/api/tokens.md#token-statistics */
export function createTokenStatsRoute({ projections, onDemandBackfill }: TokenStatsRouteOptions): RouteModule {
  return (app, dependencies) => {
    const { database, logger, parameters } = dependencies;
    const missing = createMissingIndexes(database, systemClock, [BY_CONTRACT]);
    defineRoute(app, dependencies, {
      path: '/api/v2.2/erc20/{address}/stats',
      operationId: 'getTokenStats',
      tags: ['Tokens'],
      summary: 'Get the number of transfers of a token',
      description:
        'Exact number of indexed transfers of an ERC-20 token. During the first count of a token with more than 100,000 transfers, `indexed.complete` is false.',
      params: { address: parameters.address.openapi({ description: 'The token contract' }) },
      query: { chain: parameters.chain },
      datasets: [erc20Transfers.name],
      response: { description: 'The number of transfers', schema: tokenStatsSchema },
      async answer({ address: token, chain, requester }) {
        requireIndexes(await missing());
        const { transfers, indexed } = await getTokenStats(database, chain, token, { projections });
        if (!indexed.complete)
          await onDemandBackfill.requestContract({ database, logger }, chain, token, requester);
        return { transfers: { total: String(transfers) }, indexed: showIndexed(indexed) };
      },
    });
  };
}

const tokenStatsSchema = z
  .object({
    transfers: z.object({ total: z.string().openapi({ pattern: '^[0-9]+$', example: '123' }) }),
    indexed: indexedSchema,
  })
  .openapi('Erc20TokenStats');
