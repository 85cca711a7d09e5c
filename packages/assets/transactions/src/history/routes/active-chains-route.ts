import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import {
  type ApiDependencies,
  chainsParameter,
  errorResponses,
  indexedChainsOf,
  querySchema,
  type RouteModule,
  requesterOf,
} from '@chainstead/http';
import { createRoute, z } from '@hono/zod-openapi';
import { activeChainsSchema, showActiveChain } from '../active-chains/active-chains-response.ts';
import { type ActiveChain, getActiveChain } from '../active-chains/get-active-chain.ts';
import { ASSET_MOVEMENT_DATASETS } from '../page/places-statement.ts';
import type { HistoryRouteOptions } from './wallet-history-route.ts';

export interface ActiveChainsOptions extends Pick<HistoryRouteOptions, 'trackedWallets' | 'onDemandBackfill'> {
  readonly served: readonly Chain[];
}

/** docs/api/wallets.md#active-chains */
export function createActiveChainsRoute(options: ActiveChainsOptions): RouteModule {
  const { served, trackedWallets, onDemandBackfill } = options;
  return (app, dependencies) => {
    const { chains, database, logger, reads } = dependencies;
    app.openapi(routeOf(dependencies), async (c) => {
      const address = c.req.valid('param').address as Address;
      const { chains: requested } = c.req.valid('query');
      const wanted =
        requested === undefined
          ? served.toSorted((a, b) => a.id - b.id)
          : indexedChainsOf(chains, requested, ...ASSET_MOVEMENT_DATASETS);
      const requester = requesterOf(c);
      const find = async (chain: Chain): Promise<ActiveChain | null> => {
        await trackedWallets.ask({ database, logger }, chain, address, requester);
        const { ends, indexed } = await getActiveChain(reads, chain, address);
        if (!indexed.complete) await onDemandBackfill.requestWallet({ database, logger }, chain, address, requester);
        return ends === null ? null : { chain, ...ends, indexed };
      };
      const active = (await Promise.all(wanted.map(find))).filter((chain) => chain !== null);
      return c.json({ address, active_chains: active.map(showActiveChain) }, 200);
    });
  };
}

function routeOf({ parameters }: ApiDependencies) {
  return createRoute({
    method: 'get',
    path: '/api/v2.2/wallets/{address}/chains',
    operationId: 'getWalletActiveChains',
    tags: ['Wallets'],
    summary: 'List active chains of a wallet',
    description:
      'First and last transaction of the wallet on each chain, including transfers sent by others. Chains without activity are omitted.',
    request: {
      params: z.object({ address: parameters.address }),
      query: querySchema({}, { chains: chainsParameter('Returned in this order. Default: all indexed chains by ID.') }),
    },
    responses: {
      200: { description: 'The active chains', content: { 'application/json': { schema: activeChainsSchema } } },
      ...errorResponses(400, 401, 429, 500, 503),
    },
  });
}
