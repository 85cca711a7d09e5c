import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import { type ApiDependencies, errorResponses, indexedChainsOf, querySchema, type RouteModule } from '@chainstead/http';
import { createRoute, z } from '@hono/zod-openapi';
import { activeChainsSchema, showActiveChain } from '../active-chains/active-chains-response.ts';
import { type ActiveChain, getActiveChain } from '../active-chains/get-active-chain.ts';
import { LEG_DATASETS } from '../page/places-statement.ts';
import type { HistoryRouteOptions } from './history-route-options.ts';

export interface ActiveChainsOptions extends Pick<HistoryRouteOptions, 'askedWallets' | 'walletHistory'> {
  /** The chains that are indexed here: those of which none is asked for by name. */
  readonly served: readonly Chain[];
}

/**
 * `GET /api/v2.2/wallets/{address}/chains`: on which chains a wallet did something, first and last (docs/provider-contract.md#active-chains).
 */
export function createActiveChainsRoute({ served, askedWallets, walletHistory }: ActiveChainsOptions): RouteModule {
  return (app, dependencies) => {
    const { chains, database, logger, reads } = dependencies;
    app.openapi(routeOf(dependencies), async (c) => {
      const address = c.req.valid('param').address as Address;
      const { chains: asked } = c.req.valid('query');
      const wanted =
        asked === undefined
          ? served.toSorted((one, other) => one.id - other.id)
          : indexedChainsOf(chains, asked, ...LEG_DATASETS);
      const requester = c.get('principal')?.id ?? 'open';
      const find = async (chain: Chain): Promise<ActiveChain | null> => {
        // What is not known yet may be all that the wallet ever did there.
        await askedWallets.ask({ database, logger }, chain, address, requester);
        const { ends, indexed } = await getActiveChain(reads, chain, address);
        if (!indexed.complete) await walletHistory.requestWallet({ database, logger }, chain, address, requester);
        return ends === null ? null : { chain, ...ends, indexed };
      };
      const found = await Promise.all(wanted.map(find));
      const active = found.flatMap((one) => (one === null ? [] : [showActiveChain(one)]));
      return c.json({ address, active_chains: active }, 200);
    });
  };
}

/** Each costs a few statements. */
const CHAINS_MAX = 100;

function routeOf({ parameters }: ApiDependencies) {
  return createRoute({
    method: 'get',
    path: '/api/v2.2/wallets/{address}/chains',
    operationId: 'getWalletActiveChains',
    tags: ['Wallets'],
    summary: 'The chains on which a wallet did something',
    description:
      'The first and the last transaction of the wallet’s history on each, transfers that others made included. Chains without any are left out.',
    request: {
      params: z.object({ address: parameters.address }),
      query: querySchema(
        {},
        {
          chains: z
            .array(z.string())
            .max(CHAINS_MAX, { error: `at most ${CHAINS_MAX} items` })
            .optional()
            .openapi({
              type: 'array',
              items: { type: 'string' },
              description: 'In their order. Default: all that are indexed here, by id.',
              example: ['eth'],
            }),
        },
      ),
    },
    responses: {
      200: {
        description: 'The chains',
        content: { 'application/json': { schema: activeChainsSchema } },
      },
      ...errorResponses(400, 401, 429, 500, 503),
    },
  });
}
