import { type Address, parseAddress } from '@chainstead/core';
import { booleanParameter, defineListRoute, querySchema, type RouteModule } from '@chainstead/http';
import { readBuilt, showIndexed, showSyncState, syncStateOf } from '@chainstead/pages';
import type { OnDemandBackfill } from '@chainstead/pages/on-demand';
import type { SubjectProjections } from '@chainstead/sync/requests';
import { z } from '@hono/zod-openapi';
import { getLastSales } from '../sale-prices/get-last-sales.ts';
import { type HeldNow, NOBODY_REQUESTED } from '../token-state/held-now.ts';
import { nftTransfers } from '../transfers/dataset.ts';
import { nftWalletTokens } from '../transfers/wallet-tokens.ts';
import { getWalletCollections, heldCollections } from './get-wallet-collections.ts';
import { requestUnreadCollections } from './request-unread-collections.ts';
import { showCollection, walletCollectionsSchema } from './wallet-collections-response.ts';

export interface WalletCollectionsOptions {
  readonly projections: SubjectProjections;
  readonly onDemandBackfill: Pick<OnDemandBackfill, 'requestWallet'>;
  /** For ERC-1155 balances while blocks are missing. @default they are left out */
  readonly heldNow?: HeldNow;
}

/** docs/api/nfts.md#wallet-collections */
export function createWalletCollectionsRoute(options: WalletCollectionsOptions): RouteModule {
  const { projections, onDemandBackfill, heldNow = NOBODY_REQUESTED } = options;
  return (app, dependencies) => {
    const { database, logger, parameters, reads } = dependencies;
    defineListRoute(app, dependencies, {
      path: '/api/v2.2/{address}/nft/collections',
      operationId: 'getWalletNFTCollections',
      tags: ['Wallets'],
      summary: 'List NFT collections by wallet',
      description:
        'Collections with at least one NFT held by the wallet, by contract address. The status is SYNCING while blocks of the wallet are missing; the first request starts their backfill.',
      params: z.object({ address: parameters.address }),
      query: querySchema({
        chain: parameters.chain,
        limit: parameters.limit,
        cursor: parameters.cursor,
        token_counts: booleanParameter({
          default: false,
          description: 'Adds count: the number of distinct token IDs of the collection held by the wallet.',
        }),
        exclude_spam: booleanParameter({
          default: false,
          description: 'Omits collections that are possible spam.',
        }),
        include_prices: booleanParameter({
          default: false,
          description: 'Adds last_sale, the last sale paid in ether within a year. Floor prices are null.',
        }),
      }),
      response: { description: 'A page of NFT collections', schema: walletCollectionsSchema },
      datasets: [nftTransfers.name],
      cursorName: 'wallet-nft-collections',
      filter: z.object({
        address: z.string(),
        chain: z.string().default('eth'),
        token_counts: z.boolean().default(false),
        exclude_spam: z.boolean().default(false),
        include_prices: z.boolean().default(false),
      }),
      filterOf: ({ chain, limit: _limit, cursor: _cursor, ...filter }) => ({ ...filter, chain: chain?.key }),
      position: z.object({ after: z.string() }),
      orderDefault: 'ASC',
      firstPage: 1,
      read: async ({ chain, filter, limit, position, requester }) => {
        const wallet = parseAddress(filter.address);
        await projections.keep(chain, { dataset: nftTransfers, state: nftWalletTokens }, wallet);
        const after = position && (position.after as Address);
        const reading = { wallet, limit, after, excludeSpam: filter.exclude_spam };
        const page = await readBuilt(dependencies, (from) => getWalletCollections(from, chain, reading));
        const collections = await heldCollections(heldNow, chain, wallet, page.collections);
        const contracts = collections.map(({ address }) => address);
        const lastSales = filter.include_prices ? await getLastSales(reads, chain, contracts) : null;
        const backfill = page.isCovered
          ? null
          : await onDemandBackfill.requestWallet({ database, logger }, chain, wallet, requester);
        await requestUnreadCollections(database, chain, collections);
        const last = page.hasNext ? page.collections.at(-1) : undefined;
        return {
          ...{ collections, lastSales, indexed: page.indexed },
          state: syncStateOf(chain, 'wallet', page, backfill),
          next: last && { position: { after: last.address }, upperBound: page.indexed.toBlock ?? 0 },
        };
      },
      present: ({ collections, lastSales, indexed, state }, envelope, { filter }) => ({
        ...showSyncState(state),
        ...envelope,
        indexed: showIndexed(indexed),
        result: collections.map((collection) =>
          showCollection(collection, { counts: filter.token_counts, lastSales }),
        ),
      }),
    });
  };
}
