import type { Chain } from '@chainstead/chains';
import { indexedBlocks, inside, type RouteModule, view, wire, withServices } from '@chainstead/http';
import { countHeldNfts, type HeldNfts } from '@chainstead/nft/requests';
import { StateUnavailableError } from '@chainstead/node-reads/requests';
import { type Indexed, readConsistentPage } from '@chainstead/pages';
import type { OnDemandBackfill } from '@chainstead/pages/on-demand';
import type { SubjectProjections } from '@chainstead/sync/requests';
import { type AbiBooks, createAbiBooks } from '../../abis/abi-books.ts';
import { createOnDemandReads, type OnDemandReadsOptions } from '../../on-demand-reads.ts';
import { createTrackedWallets } from '../../wallets/tracked-wallets.ts';
import { walletInsightRoute } from '../insight/wallet-insight-route.ts';
import { FIRST_PLACE } from '../page/history-query.ts';
import { ASSET_MOVEMENT_DATASETS, readPlaces } from '../page/places-page.ts';
import { defineRoute } from '../routes.ts';
import type { WalletCounts } from '../stats/counted-ranges.ts';
import { createWalletCounter } from '../stats/wallet-counter.ts';
import { activeChainsRoute } from './active-chains-route.ts';
import { walletHistoryRoute } from './wallet-history-route.ts';

const digits = wire.wire(wire.digits({ example: '152' }).schema, (count: number) => String(count));
const total = inside(view(null, (total: number) => ({ total }), { total: digits() }));

export const walletStatsView = view(
  'WalletStats',
  (held: HeldNfts, counts: WalletCounts, indexed: Indexed) => ({ ...held, ...counts, indexed }),
  {
    nfts: digits('Number of distinct NFTs held by the wallet'),
    collections: digits('Number of distinct collections with at least one NFT held by the wallet'),
    transactions: inside(
      view(null, (counts: WalletCounts) => counts, {
        total: digits('Number of transactions sent by the wallet', 'sent'),
        involved: digits('Number of transactions in the history of the wallet'),
      }),
    )((counts) => counts),
    nft_transfers: total.of('nftTransfers'),
    token_transfers: total.of('tokenTransfers'),
    indexed: indexedBlocks(),
  },
);

/** Exact counts; 503 during a busy wallet's first one (docs/api/wallets.md#wallet-statistics). */
const walletStatsRoute = defineRoute({
  path: '/api/v2.2/wallets/{address}/stats',
  operationId: 'getWalletStats',
  tag: 'Wallets',
  summary: 'Get statistics of a wallet',
  description:
    'Exact number of held NFTs, transactions and transfers in the indexed blocks. Returns 503 during the first count of a very active wallet.',
  params: ['address'],
  query: ['chain'],
  datasets: ASSET_MOVEMENT_DATASETS,
  response: { description: 'The wallet statistics', schema: walletStatsView.schema },
  async answer({ address: wallet, chain, requester, services, ...request }) {
    const { database, reads } = request;
    // Before steps that may fail: a later request then finds more.
    await services.trackedWallets.ask(request, chain, wallet, requester);
    // Descending: without a search for the newest row.
    const { indexed } = await readConsistentPage(() =>
      readPlaces(reads, chain, { ...FIRST_PLACE, wallet, order: 'DESC' }),
    );
    if (!indexed.complete) await services.onDemandBackfill.requestWallet(request, chain, wallet, requester);
    const [held, counts] = await Promise.all([
      countHeldNfts({ ...services, database }, chain, wallet),
      services.counter.count(chain, wallet),
    ]);
    if (held === null)
      throw new StateUnavailableError(`the holdings of the wallet on ${chain.key} are being counted`);
    return walletStatsView.show(held, counts, indexed);
  },
});

interface HistoryRoutesOptions extends OnDemandReadsOptions {
  readonly chains: readonly Chain[];
  /** @default a separate one, without proxy reads */
  readonly abis?: AbiBooks;
  readonly onDemandBackfill: Pick<OnDemandBackfill, 'requestWallet' | 'requestSender' | 'requestReceiver'>;
  readonly projections: SubjectProjections;
}

/** Once per process: state reads are shared. */
export function createHistoryRoutes(options: HistoryRoutesOptions): readonly RouteModule[] {
  const { abis = createAbiBooks(), chains: served, onDemandBackfill, nodeReads, clock, projections } = options;
  const services = {
    ...{ abis, served, onDemandBackfill, nodeReads, clock, projections },
    onDemandReads: createOnDemandReads(options),
    trackedWallets: createTrackedWallets(onDemandBackfill),
  };
  const routes = [walletHistoryRoute, activeChainsRoute, walletInsightRoute, walletStatsRoute];
  return [
    (app, api) => {
      const counter = createWalletCounter({ database: api.database, projections, clock });
      withServices({ ...services, counter }, routes)(app, api);
    },
  ];
}
