import type { Chain } from '@chainstead/chains';
import { parseAddress } from '@chainstead/core';
import type { ReadDatabase } from '@chainstead/db';
import { booleanParameter, each, textParameter, view, wire } from '@chainstead/http';
import { areTablesSpread, ITEM_ORDER, type PageBlock } from '@chainstead/pages';
import { z } from '@hono/zod-openapi';
import { readDocument } from '../document-object.ts';
import { defineListRoute, TO_BLOCK_AS_TEXT } from '../routes.ts';
import { nftTrades } from './dataset.ts';
import { MARKETPLACE_NAMES, type MarketplaceName } from './marketplace.ts';
import {
  type NftTrade,
  type NftTradesQuery,
  type NftTradesSubject,
  type TradedDocument,
  tradesPage,
} from './trades-page.ts';

const { address, digits, flag, hash, moment, text } = wire;

interface TradedMetadata extends Pick<TradedDocument, 'token_id'> {
  readonly fields: Readonly<Record<string, unknown>>;
}

const metadataView = view('NftTradeTokenMetadata', (token: TradedMetadata) => token, {
  token_id: digits(),
  name: text.orNull(({ fields }) => firstText(fields, 'name')),
  description: text.orNull(({ fields }) => firstText(fields, 'description')),
  image: text.orNull('As in the metadata: an https, ipfs, ar or data URI', ({ fields }) =>
    firstText(fields, 'image', 'image_url'),
  ),
});

interface ShownTrade extends NftTrade {
  readonly block: PageBlock;
  /** Undefined if not requested. */
  readonly metadata: readonly TradedMetadata[] | null | undefined;
}

export const tradeView = view('NftTrade', (trade: ShownTrade) => trade, {
  transaction_hash: hash(),
  transaction_index: digits((trade) => String(trade.transaction_index)),
  token_ids: wire.wire(z.array(digits().schema))('All token IDs of the collection in the trade, in event order'),
  seller_address: address(({ seller }) => seller),
  buyer_address: address('Final receiver of the NFT, behind routers and aggregators', ({ buyer }) => buyer),
  token_address: address('The NFT contract'),
  marketplace_address: address('The contract that emitted the sale'),
  price_token_address: address.orNull('null if paid in the native token', (trade) => trade.payment_token),
  price: digits(
    'Amount paid for the whole order including fees and royalties, in base units of the payment token',
  ),
  block_timestamp: moment({ example: '2022-12-06T00:32:11.000Z' }),
  block_number: digits((trade) => String(trade.block_number)),
  block_hash: hash(({ block }) => block.block_hash),
  verified_collection: flag('true if an imported list contains the collection', ({ verified }) => verified),
  nft_metadata: each(metadataView).ifRequested(
    'Known metadata of the NFTs. Absent with nft_metadata=false',
    ({ metadata }) => metadata,
  ),
});

function firstText(fields: TradedMetadata['fields'], ...names: readonly string[]): string | null {
  return names.map((name) => fields[name]).find((value) => typeof value === 'string') ?? null;
}

const TRADES = {
  tag: 'NFT trades and prices',
  name: 'NftTrades',
  response: 'A page of NFT trades',
  datasets: [nftTrades.name],
  position: z.object({ ...ITEM_ORDER.fields, token: z.string().transform(parseAddress) }),
  firstPage: 0,
  view: tradeView,
} as const;

const QUERY = [
  'chain',
  'blockBounds',
  TO_BLOCK_AS_TEXT,
  'limit',
  'cursor',
  {
    nft_metadata: booleanParameter({
      default: true,
      description: 'Adds the known metadata of the NFTs to each trade.',
    }).default(true),
  },
] as const;

const PAGING_TEXT =
  'Use `cursor` for the next page; new rows never shift pages. An accepted CryptoPunks bid appears when the bid with its price is indexed.';
const ALL = 'all';
const DEFAULT_MARKETPLACE: MarketplaceName = 'opensea';
const MARKETPLACES = [...MARKETPLACE_NAMES, ALL];

/** docs/api/nfts.md#nft-trades */
export const tokenTradesRoute = defineListRoute({
  ...TRADES,
  path: '/api/v2.2/nft/{address}/{token_id}/trades',
  operationId: 'getNFTTradesByToken',
  summary: 'List trades of an NFT',
  description: `Trades of one NFT on all marketplaces, newest first, including bundles that contain it. ${PAGING_TEXT}`,
  params: ['address', { token_id: 'tokenId' }],
  query: QUERY,
  read: ({ address: token, token_id: tokenId, ...given }) => readTrades(given, { kind: 'token', token, tokenId }),
  row: (trade) => [trade],
});

export const collectionTradesRoute = defineListRoute({
  ...TRADES,
  path: '/api/v2.2/nft/{address}/trades',
  operationId: 'getNFTTrades',
  summary: 'List NFT trades by collection',
  description: `Trades of the NFTs of a collection, newest first. Default for \`marketplace\`: OpenSea, as in the hosted API; \`all\` returns trades of all marketplaces. ${PAGING_TEXT}`,
  params: ['address'],
  query: [
    ...QUERY,
    {
      marketplace: textParameter(`${MARKETPLACE_NAMES.join(', ')} or ${ALL}`, (text) =>
        MARKETPLACES.find((name) => name === text.toLowerCase()),
      )
        .optional()
        .openapi({ type: 'string', enum: MARKETPLACES, default: DEFAULT_MARKETPLACE })
        .default(DEFAULT_MARKETPLACE),
    },
  ],
  read: ({ address: token, marketplace, ...given }) =>
    readTrades(given, { kind: 'collection', token, marketplace: marketplace === ALL ? null : marketplace }),
  row: (trade) => [trade],
});

export const walletTradesRoute = defineListRoute({
  ...TRADES,
  path: '/api/v2.2/wallets/{address}/nfts/trades',
  operationId: 'getNFTTradesByWallet',
  summary: 'List NFT trades by wallet',
  description: `Trades with the wallet as seller or buyer on all marketplaces, newest first. ${PAGING_TEXT}`,
  params: ['address'],
  query: QUERY,
  read: ({ address: wallet, ...given }) => readTrades(given, { kind: 'wallet', wallet }),
  row: (trade) => [trade],
});

interface RequestedTrades {
  readonly reads: ReadDatabase;
  readonly chain: Chain;
  readonly query: Omit<NftTradesQuery, 'order' | 'subject' | 'metadata'>;
  readonly nft_metadata: boolean;
}

async function readTrades(
  { reads, chain, query, nft_metadata: metadata }: RequestedTrades,
  subject: NftTradesSubject,
) {
  const requested = { ...query, order: 'DESC', subject, metadata } as const;
  const page = await tradesPage(chain, requested, await areTablesSpread(reads)).read(reads);
  const rows = page.rows.map(
    (trade, index): ShownTrade => ({
      ...trade,
      block: page.blockOf(trade),
      metadata: metadata ? (page.documents?.[index]?.flatMap(readMetadata) ?? null) : undefined,
    }),
  );
  return { ...page, rows };
}

function readMetadata({ token_id, document }: TradedDocument): readonly TradedMetadata[] {
  const fields = readDocument(document)?.fields;
  return fields === undefined ? [] : [{ token_id, fields }];
}
