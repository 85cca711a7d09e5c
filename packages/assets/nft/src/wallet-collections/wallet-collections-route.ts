import { parseAddress } from '@chainstead/core';
import { inside, type RouteModule, routesFor, view, wire, withServices } from '@chainstead/http';
import { readBuilt, syncFields, syncStateOf } from '@chainstead/pages';
import type { OnDemandBackfill } from '@chainstead/pages/on-demand';
import type { SubjectProjections } from '@chainstead/sync/requests';
import { z } from '@hono/zod-openapi';
import { contractType, floorPrice, includeParameter } from '../routes.ts';
import { getLastSales, type LastSale } from '../sale-prices/get-last-sales.ts';
import { saleView } from '../sale-prices/sale-prices-route.ts';
import { type HeldNow, NOBODY_REQUESTED } from '../token-state/held-readers.ts';
import { nftTransfers } from '../transfers/dataset.ts';
import { nftWalletTokens } from '../transfers/wallet-tokens.ts';
import { getWalletCollections, heldCollections, type WalletCollection } from './get-wallet-collections.ts';
import { requestUnreadCollections } from './request-unread-collections.ts';

const { address, flag, text } = wire;

interface ShownCollection extends WalletCollection {
  /** Null unless requested. */
  readonly count: number | null;
  /** Undefined unless requested. */
  readonly lastSale: LastSale | undefined;
}

const nullIfPriced = ({ lastSale }: ShownCollection) => (lastSale === undefined ? undefined : null);

export const walletCollectionView = view('WalletNftCollection', (collection: ShownCollection) => collection, {
  token_address: address((collection) => collection.address),
  contract_type: contractType.orNull((collection) => collection.contractType),
  name: text.orNull('null until it is known, as for symbol, logo and banner'),
  symbol: text.orNull(),
  possible_spam: flag(({ possibleSpam }) => possibleSpam),
  verified_collection: flag('true if an imported list contains the collection', ({ verified }) => verified),
  count: wire
    .wire(z.int().min(1))
    .orAbsent('With token_counts=true: number of distinct token IDs held by the wallet, for both standards'),
  collection_logo: text.orNull(({ logo }) => logo),
  collection_banner_image: text.orNull(({ bannerImage }) => bannerImage),
  floor_price: floorPrice('Only with include_prices=true. Not available, as all floor prices', nullIfPriced),
  floor_price_usd: floorPrice(nullIfPriced),
  floor_price_currency: floorPrice(nullIfPriced),
  last_sale: inside(saleView).ifRequested(
    'Last sale paid in ether within a year. null if there is none. Only with include_prices',
    ({ lastSale }) => lastSale,
  ),
});

interface WalletCollectionsOptions {
  readonly projections: SubjectProjections;
  readonly onDemandBackfill: Pick<OnDemandBackfill, 'requestWallet'>;
  /** For ERC-1155 balances while blocks are missing. @default they are left out */
  readonly heldNow?: HeldNow;
}

export function createWalletCollectionsRoute(options: WalletCollectionsOptions): RouteModule {
  return withServices(options, [walletCollectionsRoute]);
}

/** docs/api/nfts.md#wallet-collections */
const walletCollectionsRoute = routesFor<WalletCollectionsOptions>().defineListRoute({
  path: '/api/v2.2/{address}/nft/collections',
  operationId: 'getWalletNFTCollections',
  tag: 'Wallets',
  summary: 'List NFT collections by wallet',
  description:
    'Collections with at least one NFT held by the wallet, by contract address. The status is SYNCING while blocks of the wallet are missing; the first request starts their backfill.',
  params: ['address'],
  query: [
    'chain',
    'limit',
    'cursor',
    {
      token_counts: includeParameter(
        'Adds count: the number of distinct token IDs of the collection held by the wallet.',
      ),
      exclude_spam: includeParameter('Omits collections that are possible spam.'),
      include_prices: includeParameter(
        'Adds last_sale, the last sale paid in ether within a year. Floor prices are null.',
      ),
    },
  ],
  name: 'WalletNftCollections',
  response: 'A page of NFT collections',
  datasets: [nftTransfers.name],
  position: z.string().transform(parseAddress),
  orderDefault: 'ASC',
  firstPage: 1,
  async read({ services, database, reads, logger, chain, address: wallet, requester, ...given }) {
    const { projections, onDemandBackfill, heldNow = NOBODY_REQUESTED } = services;
    await projections.keep(chain, { dataset: nftTransfers, state: nftWalletTokens }, wallet);
    const query = { ...given.query, wallet, excludeSpam: given.exclude_spam };
    const page = await readBuilt({ database, reads }, (from) => getWalletCollections(from, chain, query));
    const rows = await heldCollections(heldNow, chain, wallet, page.collections);
    const contracts = rows.map((row) => row.address);
    const lastSales = given.include_prices ? await getLastSales(reads, chain, contracts) : null;
    const backfill = page.isCovered
      ? null
      : await onDemandBackfill.requestWallet({ database, logger }, chain, wallet, requester);
    await requestUnreadCollections(database, chain, rows);
    const last = page.hasNext ? page.collections.at(-1) : undefined;
    return {
      rows,
      lastSales,
      indexed: page.indexed,
      state: syncStateOf(chain, 'wallet', page, backfill),
      next: last && { position: last.address, upperBound: page.indexed.toBlock ?? 0 },
    };
  },
  view: walletCollectionView,
  row: (row, { lastSales }, { token_counts: isCounted }) => {
    const lastSale = lastSales === null ? undefined : (lastSales.get(row.address) ?? null);
    return [{ ...row, count: isCounted ? row.idsHeld : null, lastSale }];
  },
  fields: (standard) => ({
    ...syncFields(
      'SYNCING while blocks of the wallet are missing. The list may then lack collections or contain too many',
    ),
    ...standard,
  }),
});
