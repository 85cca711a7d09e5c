import type { Address, Clock } from '@chainstead/core';
import {
  type ApiDependencies,
  errorResponses,
  indexedChain,
  querySchema,
  type RouteModule,
  requesterOf,
} from '@chainstead/http';
import { countHeldNfts } from '@chainstead/nft';
import { StateUnavailableError } from '@chainstead/node-reads';
import { type OnDemandBackfill, readConsistentPage } from '@chainstead/pages';
import type { SubjectProjections } from '@chainstead/sync';
import { createRoute, z } from '@hono/zod-openapi';
import type { TrackedWallets } from '../../index.ts';
import { FIRST_PLACE } from '../page/history-query.ts';
import { ASSET_MOVEMENT_DATASETS } from '../page/places-statement.ts';
import { readPlaces } from '../page/read-places.ts';
import { createWalletCounter } from '../stats/wallet-counter.ts';
import { showWalletStats, walletStatsSchema } from '../stats/wallet-stats-response.ts';

export interface WalletStatsOptions {
  readonly projections: SubjectProjections;
  readonly waitMs: number;
  readonly clock: Clock;
  readonly trackedWallets: TrackedWallets;
  readonly onDemandBackfill: Pick<OnDemandBackfill, 'requestWallet'>;
}

/** Exact counts; 503 during a busy wallet's first one (docs/api/wallets.md#wallet-statistics). */
export function createWalletStatsRoute(options: WalletStatsOptions): RouteModule {
  const { projections, waitMs, clock, trackedWallets, onDemandBackfill } = options;
  return (app, dependencies) => {
    const { chains, database, logger, reads } = dependencies;
    const counting = { database, projections, waitMs, clock };
    const counter = createWalletCounter(counting);
    app.openapi(routeOf(dependencies), async (c) => {
      const wallet = c.req.valid('param').address as Address;
      const chain = indexedChain(chains, c.req.valid('query').chain?.key ?? DEFAULT_CHAIN, ...ASSET_MOVEMENT_DATASETS);
      const requester = requesterOf(c);
      // Before steps that may fail: a later request then finds more.
      await trackedWallets.ask({ database, logger }, chain, wallet, requester);
      const { indexed } = await readConsistentPage(() => readPlaces(reads, chain, { ...FIRST_PLACE, wallet }));
      if (!indexed.complete) await onDemandBackfill.requestWallet({ database, logger }, chain, wallet, requester);
      const [held, counts] = await Promise.all([countHeldNfts(counting, chain, wallet), counter.count(chain, wallet)]);
      if (held === null)
        throw new StateUnavailableError(`the holdings of the wallet on ${chain.key} are being counted`);
      return c.json(showWalletStats(held, counts, indexed), 200);
    });
  };
}

const DEFAULT_CHAIN = 'eth';
function routeOf({ parameters }: ApiDependencies) {
  return createRoute({
    method: 'get',
    path: '/api/v2.2/wallets/{address}/stats',
    operationId: 'getWalletStats',
    tags: ['Wallets'],
    summary: 'Get statistics of a wallet',
    description:
      'Exact number of held NFTs, transactions and transfers in the indexed blocks. Returns 503 during the first count of a very active wallet.',
    request: {
      params: z.object({ address: parameters.address }),
      query: querySchema({ chain: parameters.chain }),
    },
    responses: {
      200: { description: 'The wallet statistics', content: { 'application/json': { schema: walletStatsSchema } } },
      ...errorResponses(400, 401, 429, 500, 503),
    },
  });
}
