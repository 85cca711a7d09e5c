import type { Chain } from '@chainstead/chains';
import { type Address, parseAddress } from '@chainstead/core';
import { booleanParameter, defineListRoute, querySchema, type RouteModule } from '@chainstead/http';
import { indexedSchema, readBuilt, showIndexed, showSyncState, syncStateOf } from '@chainstead/pages';
import type { OnDemandBackfill } from '@chainstead/pages/on-demand';
import type { SubjectProjections } from '@chainstead/sync/requests';
import { z } from '@hono/zod-openapi';
import { changeRunSchema } from '../records/change-pages.ts';
import { recordId } from '../records/nft-record.ts';
import { createRecordPages, type SendersOf } from '../records/record-pages.ts';
import { includePricesParameter, recordParameters } from '../records/record-parameters.ts';
import { ownedNftSchema, showOwnedNft } from '../records/record-response.ts';
import { requestUnreadTokens } from '../records/request-unread-tokens.ts';
import { type HeldNow, NOBODY_REQUESTED, withAmountsNow } from '../token-state/held-readers.ts';
import { nftTransfers } from '../transfers/dataset.ts';
import { nftWalletTokens } from '../transfers/wallet-tokens.ts';
import { getWalletNfts, placeAfter, type WalletNft } from './wallet-nfts-statement.ts';

export interface WalletNftsOptions {
  readonly projections: SubjectProjections;
  readonly onDemandBackfill: Pick<OnDemandBackfill, 'requestWallet'>;
  readonly sendersOf?: SendersOf;
  /** For ERC-1155 balances while blocks are missing. @default they are left out */
  readonly heldNow?: HeldNow;
}

/** docs/api/nfts.md#wallet-nfts */
export function createWalletNftsRoute({
  projections,
  onDemandBackfill,
  sendersOf,
  heldNow = NOBODY_REQUESTED,
}: WalletNftsOptions): RouteModule {
  return (app, dependencies) => {
    const { database, logger, parameters, reads } = dependencies;
    const pages = createRecordPages(reads, sendersOf);
    defineListRoute(app, dependencies, {
      path: '/api/v2.2/{address}/nft',
      operationId: 'getWalletNFTs',
      tags: ['Wallets'],
      summary: 'List NFTs by wallet',
      description:
        'NFTs held by a wallet, newest change first. The status is SYNCING while blocks of the wallet are missing; the first request starts their backfill and the read of unknown metadata.',
      params: z.object({ address: parameters.address }),
      query: querySchema(
        {
          chain: parameters.chain,
          limit: parameters.limit,
          cursor: parameters.cursor,
          exclude_spam: booleanParameter({
            default: false,
            description: 'Omits NFTs of collections that are possible spam.',
          }),
          ...recordParameters({ normalizeMetadata: true }),
          include_prices: includePricesParameter(),
        },
        { token_addresses: parameters.addresses },
      ),
      response: { description: 'A page of NFTs', schema: walletNftsSchema },
      datasets: [nftTransfers.name],
      cursorName: 'wallet-nfts',
      filter: z.object({
        address: z.string(),
        chain: z.string().default('eth'),
        token_addresses: z.array(z.string()).readonly().default([]),
        exclude_spam: z.boolean().default(false),
        format: z.enum(['decimal', 'hex']).default('decimal'),
        normalizeMetadata: z.boolean().default(true),
        media_items: z.boolean().default(false),
        include_prices: z.boolean().default(false),
      }),
      filterOf: ({ chain, limit: _limit, cursor: _cursor, ...filter }) => ({ ...filter, chain: chain?.key }),
      position: z.object({ block: z.int(), address: z.string(), id: z.string(), run: changeRunSchema }),
      firstPage: 1,
      read: async ({ chain, filter, limit, position, requester, upperBound }) => {
        const wallet = parseAddress(filter.address);
        await projections.keep(chain, { dataset: nftTransfers, state: nftWalletTokens }, wallet);
        const after = position && {
          ...{ block: position.block, address: position.address as Address, tokenId: position.id },
          ...{ run: position.run, upperBound: upperBound ?? 0 },
        };
        const contracts = filter.token_addresses.map(parseAddress);
        const query = { wallet, limit, after, excludeSpam: filter.exclude_spam, contracts };
        const page = await readBuilt(dependencies, (from) => getWalletNfts(from, chain, query));
        const tokens = page.indexed.complete ? page.tokens : await withSumsNow(heldNow, chain, page.tokens);
        const read = await pages.read(chain, tokens, { includePrices: filter.include_prices });
        const backfill = page.isCovered
          ? null
          : await onDemandBackfill.requestWallet({ database, logger }, chain, wallet, requester);
        await requestUnreadTokens(database, chain, read.records);
        const last = placeAfter(chain, page, after);
        const next = last && {
          position: { block: last.block, address: last.address, id: last.tokenId, run: last.run },
          upperBound: last.upperBound,
        };
        return { ...read, indexed: page.indexed, state: syncStateOf(chain, 'wallet', page, backfill), next };
      },
      present: ({ records, lastSales, minters, indexed, state }, envelope, { filter }) => ({
        ...showSyncState(state),
        ...envelope,
        indexed: showIndexed(indexed),
        result: records.map((record) => {
          const { format, normalizeMetadata, media_items: mediaItems } = filter;
          return showOwnedNft(record, {
            format,
            normalizeMetadata,
            mediaItems,
            collection: 'pictures',
            lastSales,
            minters,
          });
        }),
      }),
    });
  };
}

/** Incomplete sums are replaced with balances; tokens without a result are left out. */
async function withSumsNow(
  heldNow: HeldNow,
  chain: Chain,
  tokens: readonly WalletNft[],
): Promise<readonly WalletNft[]> {
  const reported = await withAmountsNow(
    heldNow,
    chain,
    tokens.filter(({ isSum }) => isSum),
  );
  const byId = new Map(reported.map((token) => [recordId(token), token]));
  return tokens.flatMap((token) => (token.isSum ? (byId.get(recordId(token)) ?? []) : [token]));
}

/** docs/api/nfts.md#wallet-nfts */
export const walletNftsSchema = z
  .object({
    status: z.enum(['SYNCED', 'SYNCING']).openapi({
      description:
        'SYNCING while blocks of the wallet are missing. The list may then lack NFTs or contain too many',
    }),
    status_message: z.string().optional().openapi({ description: 'Reason for SYNCING, and whether it will end' }),
    page: z.int().min(1).openapi({ description: 'Page number, from 1' }),
    page_size: z.int().min(1),
    cursor: z.string().nullable().openapi({ description: 'Cursor of the next page. null on the last page' }),
    indexed: indexedSchema,
    result: z.array(ownedNftSchema),
  })
  .openapi('WalletNfts');
