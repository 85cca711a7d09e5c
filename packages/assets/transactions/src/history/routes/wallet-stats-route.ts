import type { Chain } from '@chainstead/chains';
import type { Clock } from '@chainstead/core';
import { defineRoute, type RouteModule } from '@chainstead/http';
import { countHeldNfts, type HeldNfts } from '@chainstead/nft/requests';
import { StateUnavailableError } from '@chainstead/node-reads/requests';
import { type Indexed, indexedSchema, readConsistentPage, showIndexed } from '@chainstead/pages';
import type { OnDemandBackfill } from '@chainstead/pages/on-demand';
import type { SubjectProjections } from '@chainstead/sync/requests';
import { z } from '@hono/zod-openapi';
import { type AbiBooks, createAbiBooks } from '../../abis/abi-books.ts';
import { createOnDemandReads, type OnDemandReadsOptions } from '../../on-demand-reads.ts';
import { createTrackedWallets, type TrackedWallets } from '../../wallets/tracked-wallets.ts';
import { createWalletInsightRoute } from '../insight/wallet-insight-route.ts';
import { FIRST_PLACE } from '../page/history-query.ts';
import { ASSET_MOVEMENT_DATASETS, readPlaces } from '../page/places-page.ts';
import type { WalletCounts } from '../stats/counted-ranges.ts';
import { createWalletCounter } from '../stats/wallet-counter.ts';
import { createActiveChainsRoute } from './active-chains-route.ts';
import { createWalletHistoryRoute } from './wallet-history-route.ts';

interface WalletStatsOptions {
  readonly projections: SubjectProjections;
  readonly clock: Clock;
  readonly trackedWallets: TrackedWallets;
  readonly onDemandBackfill: Pick<OnDemandBackfill, 'requestWallet'>;
}

/** Exact counts; 503 during a busy wallet's first one (docs/api/wallets.md#wallet-statistics). */
function createWalletStatsRoute(options: WalletStatsOptions): RouteModule {
  const { projections, clock, trackedWallets, onDemandBackfill } = options;
  return (app, dependencies) => {
    const { database, logger, reads, parameters } = dependencies;
    const counting = { database, projections, clock };
    const counter = createWalletCounter(counting);
    defineRoute(app, dependencies, {
      path: '/api/v2.2/wallets/{address}/stats',
      operationId: 'getWalletStats',
      tags: ['Wallets'],
      summary: 'Get statistics of a wallet',
      description:
        'Exact number of held NFTs, transactions and transfers in the indexed blocks. Returns 503 during the first count of a very active wallet.',
      params: { address: parameters.address },
      query: { chain: parameters.chain },
      datasets: ASSET_MOVEMENT_DATASETS,
      response: { description: 'The wallet statistics', schema: walletStatsSchema },
      async answer({ address: wallet, chain, requester }) {
        // Before steps that may fail: a later request then finds more.
        await trackedWallets.ask({ database, logger }, chain, wallet, requester);
        // Descending: without a search for the newest row.
        const { indexed } = await readConsistentPage(() =>
          readPlaces(reads, chain, { ...FIRST_PLACE, wallet, order: 'DESC' }),
        );
        if (!indexed.complete)
          await onDemandBackfill.requestWallet({ database, logger }, chain, wallet, requester);
        const [held, counts] = await Promise.all([
          countHeldNfts(counting, chain, wallet),
          counter.count(chain, wallet),
        ]);
        if (held === null)
          throw new StateUnavailableError(`the holdings of the wallet on ${chain.key} are being counted`);
        return showWalletStats(held, counts, indexed);
      },
    });
  };
}

const digits = z.string().openapi({ pattern: '^[0-9]+$', example: '152' });

export const walletStatsSchema = z
  .object({
    nfts: digits.openapi({ description: 'Number of distinct NFTs held by the wallet' }),
    collections: digits.openapi({
      description: 'Number of distinct collections with at least one NFT held by the wallet',
    }),
    transactions: z.object({
      total: digits.openapi({ description: 'Number of transactions sent by the wallet' }),
      involved: digits.openapi({ description: 'Number of transactions in the history of the wallet' }),
    }),
    nft_transfers: z.object({ total: digits }),
    token_transfers: z.object({ total: digits }),
    indexed: indexedSchema,
  })
  .openapi('WalletStats');

function showWalletStats(
  { nfts, collections }: HeldNfts,
  { sent, involved, nftTransfers, tokenTransfers }: WalletCounts,
  indexed: Indexed,
): z.infer<typeof walletStatsSchema> {
  return {
    nfts: String(nfts),
    collections: String(collections),
    transactions: { total: String(sent), involved: String(involved) },
    nft_transfers: { total: String(nftTransfers) },
    token_transfers: { total: String(tokenTransfers) },
    indexed: showIndexed(indexed),
  };
}

interface HistoryRoutesOptions extends OnDemandReadsOptions {
  readonly chains: readonly Chain[];
  /** @default a separate one, without proxy reads */
  readonly abis?: AbiBooks;
  readonly onDemandBackfill: Pick<OnDemandBackfill, 'requestWallet' | 'requestSender' | 'requestReceiver'>;
  readonly projections: SubjectProjections;
}

/** Once per process: state reads are shared. */
export function createHistoryRoutes(options: HistoryRoutesOptions): readonly RouteModule[] {
  const { abis = createAbiBooks(), chains, onDemandBackfill } = options;
  const trackedWallets = createTrackedWallets(onDemandBackfill);
  return [
    createWalletHistoryRoute({
      onDemandReads: createOnDemandReads(options),
      abis,
      trackedWallets,
      onDemandBackfill,
    }),
    createActiveChainsRoute({ served: chains, trackedWallets, onDemandBackfill }),
    createWalletInsightRoute({ ...options, served: chains, trackedWallets }),
    createWalletStatsRoute({ ...options, trackedWallets }),
  ];
}
