import { type Address, parseAddress } from '@chainstead/core';
import { booleanParameter, defineListRoute, querySchema, type RouteModule } from '@chainstead/http';
import { indexedSchema, readBuilt, showIndexed, showSyncState, syncStateOf } from '@chainstead/pages';
import type { OnDemandBackfill } from '@chainstead/pages/on-demand';
import type { SubjectProjections } from '@chainstead/sync/requests';
import { z } from '@hono/zod-openapi';
import { getLastSales, type LastSale } from '../sale-prices/get-last-sales.ts';
import { salePricesSchema } from '../sale-prices/sale-prices-response.ts';
import { type HeldNow, NOBODY_REQUESTED } from '../token-state/held-readers.ts';
import { nftTransfers } from '../transfers/dataset.ts';
import { nftWalletTokens } from '../transfers/wallet-tokens.ts';
import { getWalletCollections, heldCollections, type WalletCollection } from './get-wallet-collections.ts';
import { requestUnreadCollections } from './request-unread-collections.ts';

interface WalletCollectionsOptions {
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

const collectionSchema = z
  .object({
    token_address: z.string().openapi({ pattern: '^0x[0-9a-f]{40}$' }),
    contract_type: z.enum(['ERC721', 'ERC1155']).nullable(),
    name: z
      .string()
      .nullable()
      .openapi({ description: 'null until it is known, as for symbol, logo and banner' }),
    symbol: z.string().nullable(),
    possible_spam: z.boolean(),
    verified_collection: z.boolean().openapi({ description: 'true if an imported list contains the collection' }),
    count: z.int().min(1).optional().openapi({
      description: 'With token_counts=true: number of distinct token IDs held by the wallet, for both standards',
    }),
    collection_logo: z.string().nullable(),
    collection_banner_image: z.string().nullable(),
    floor_price: z
      .null()
      .optional()
      .openapi({ description: 'Only with include_prices=true. Not available, as all floor prices' }),
    floor_price_usd: z.null().optional(),
    floor_price_currency: z.null().optional(),
    last_sale: salePricesSchema.shape.last_sale.optional().openapi({
      description: 'Last sale paid in ether within a year. null if there is none. Only with include_prices',
    }),
  })
  .openapi('WalletNftCollection');

/** docs/api/nfts.md#wallet-collections */
export const walletCollectionsSchema = z
  .object({
    status: z.enum(['SYNCED', 'SYNCING']).openapi({
      description:
        'SYNCING while blocks of the wallet are missing. The list may then lack collections or contain too many',
    }),
    status_message: z.string().optional().openapi({ description: 'Reason for SYNCING, and whether it will end' }),
    page: z.int().min(1).openapi({ description: 'Page number, from 1' }),
    page_size: z.int().min(1),
    cursor: z.string().nullable().openapi({ description: 'Cursor of the next page. null on the last page' }),
    indexed: indexedSchema,
    result: z.array(collectionSchema),
  })
  .openapi('WalletNftCollections');

function showCollection(
  collection: WalletCollection,
  options: { readonly counts: boolean; readonly lastSales: ReadonlyMap<Address, LastSale> | null },
): z.infer<typeof collectionSchema> {
  return {
    token_address: collection.address,
    contract_type: collection.contractType,
    name: collection.name,
    symbol: collection.symbol,
    possible_spam: collection.possibleSpam,
    verified_collection: collection.verified,
    ...(options.counts && { count: collection.idsHeld }),
    collection_logo: collection.logo,
    collection_banner_image: collection.bannerImage,
    ...(options.lastSales !== null && {
      floor_price: null,
      floor_price_usd: null,
      floor_price_currency: null,
      last_sale: options.lastSales.get(collection.address) ?? null,
    }),
  };
}
