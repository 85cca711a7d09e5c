import type { Chain } from '@chainstead/chains';
import type { Address, Clock } from '@chainstead/core';
import {
  booleanParameter,
  chainsParameter,
  defineRoute,
  indexedChainsOf,
  type RouteModule,
} from '@chainstead/http';
import { type NodeReadQueue, StateUnavailableError } from '@chainstead/node-reads/requests';
import { readConsistentPage } from '@chainstead/pages';
import type { OnDemandBackfill } from '@chainstead/pages/on-demand';
import type { TrackedWallets } from '../../wallets/tracked-wallets.ts';
import { FIRST_PLACE } from '../page/history-query.ts';
import { ASSET_MOVEMENT_DATASETS, readPlaces } from '../page/places-page.ts';
import { INSIGHT_COUNTED } from './insight-reader.ts';
import { type CountedChain, showWalletInsight, walletInsightSchema } from './wallet-insight-response.ts';

export interface WalletInsightOptions {
  readonly trackedWallets: TrackedWallets;
  readonly onDemandBackfill: Pick<OnDemandBackfill, 'requestWallet'>;
  /** Used if a request has no chain. */
  readonly served: readonly Chain[];
  readonly nodeReads: NodeReadQueue;
  readonly clock: Clock;
}

/** Milliseconds. */
const COUNTED_MS = 60_000;

/** Counted by a worker; 503 beyond the wait limit (docs/api/wallets.md#wallet-insight). */
export function createWalletInsightRoute(options: WalletInsightOptions): RouteModule {
  const { served, nodeReads, clock, trackedWallets, onDemandBackfill } = options;
  return (app, dependencies) => {
    const { chains, database, logger, reads, parameters } = dependencies;
    const count = async (chain: Chain, wallet: Address, requester: string): Promise<CountedChain> => {
      // Before steps that may fail: a later request then finds more.
      await trackedWallets.ask({ database, logger }, chain, wallet, requester);
      // Descending: without a search for the newest row.
      const { indexed } = await readConsistentPage(() =>
        readPlaces(reads, chain, { ...FIRST_PLACE, wallet, order: 'DESC' }),
      );
      if (!indexed.complete) await onDemandBackfill.requestWallet({ database, logger }, chain, wallet, requester);
      const answer = await nodeReads.request(chain, INSIGHT_COUNTED, { wallet }, { maxAgeMs: COUNTED_MS });
      if (answer === null)
        throw new StateUnavailableError(`the activity of the wallet on ${chain.key} is being counted`);
      const { counts, swaps, to } = answer;
      const isComplete = indexed.complete && (chain.swaps === 'off' || swaps.isComplete);
      return { chain, counts, swapVolume: swaps.volume, toBlock: to, isComplete };
    };
    defineRoute(app, dependencies, {
      path: '/api/v2.2/wallets/{address}/insight',
      operationId: 'getWalletInsight',
      tags: ['Wallets'],
      summary: 'Get aggregated activity of a wallet',
      description:
        'Aggregates over the requested chains, or over all indexed chains. Counted in the background and cached for a minute: returns 503 until the count is complete. USD amounts are null if prices are not available.',
      params: { address: parameters.address },
      query: {
        includeChainBreakdown: booleanParameter({
          default: false,
          description: 'Adds the same aggregates per chain, with amounts in its native token.',
        }),
      },
      lists: { chains: chainsParameter('Default: all indexed chains.') },
      response: { description: 'The aggregated activity', schema: walletInsightSchema },
      async answer({ address, chains: requested, includeChainBreakdown: withBreakdown = false, requester }) {
        const wanted =
          requested === undefined
            ? served.toSorted((a, b) => a.id - b.id)
            : indexedChainsOf(chains, requested, ...ASSET_MOVEMENT_DATASETS);
        const counted = await Promise.all(wanted.map((chain) => count(chain, address, requester)));
        return showWalletInsight(address, counted, { now: clock.now() / 1_000, withBreakdown });
      },
    });
  };
}
