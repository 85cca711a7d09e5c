import { createHash } from 'node:crypto';
import { type Address, ZERO_ADDRESS } from '@chainstead/core';
import { asSql, type Sql, sql } from '@chainstead/db';
import { fieldsOf, type Indexed, indexedBlocks, inside, view, wire } from '@chainstead/http';
import { z } from '@hono/zod-openapi';
import { DocumentError, parseDocumentPlace } from '../collections/document-place.ts';
import { contractType, floorPrice, type TokenIdFormat, time, tokenId } from '../routes.ts';
import type { LastSale } from '../sale-prices/get-last-sales.ts';
import { saleView } from '../sale-prices/sale-prices-route.ts';
import { type NftRecord, recordId } from './nft-record.ts';
import { normalizedMetadataSchema, normalizeMetadata, pictureOf } from './normalized-metadata.ts';

const { address, flag, text } = wire;
const digits = wire.wire(z.string().openapi({ pattern: '^[0-9]+$', example: '7781' }));
const number = wire.wire(z.number());

/** docs/api/nfts.md#nft-records */
const mediaSchema = z
  .object({
    status: z.enum(['unsupported_media', 'invalid_url']).openapi({
      description: 'invalid_url: the image URL is invalid. Previews are not generated',
    }),
    original_media_url: z.string().openapi({ description: 'As in the metadata' }),
    updatedAt: z.iso.datetime({ precision: 3 }).optional(),
  })
  .openapi('NftMedia');

export interface RecordWishes {
  readonly format: TokenIdFormat;
  readonly normalizeMetadata: boolean;
  readonly media_items: boolean;
}

/** What the records of a response share. */
export interface SharedOfRecords {
  /** Null if not requested. */
  readonly lastSales: ((token: { readonly token: Address; readonly tokenId: string }) => LastSale) | null;
  /** By {@link recordId}. */
  readonly minters: ReadonlyMap<string, Address>;
}

function recordOf(
  record: NftRecord,
  { lastSales, minters }: SharedOfRecords,
  wishes: RecordWishes,
  collectionPart: 'pictures' | 'all' = 'pictures',
) {
  const { collection } = record;
  return {
    record,
    collection,
    lastSales,
    minters,
    wishes,
    links: collectionPart === 'all' ? collection : undefined,
  };
}

const nullIfPriced = ({ lastSales }: SharedOfRecords) => (lastSales === null ? undefined : null);

const recordFields = fieldsOf<ReturnType<typeof recordOf>>()({
  token_address: address(({ record }) => record.address),
  token_id: tokenId({ description: 'Decimal digits, or as set by format' }, ({ record, wishes }) => ({
    id: record.tokenId,
    format: wishes.format,
  })),
  amount: digits.orNull(
    'Number of units held by the owner, "1" for ERC-721. null if unknown',
    ({ record }) => record.amount,
  ),
  token_hash: text({ pattern: '^[0-9a-f]{32}$', example: 'ab96a59f7d41a8648adee2f63d1386ce' }, ({ record }) =>
    tokenHash(record),
  ),
  block_number: digits.orNull(
    'Block of the newest change of owner or amount',
    ({ record }) => record.blockNumber?.toString() ?? null,
  ),
  block_number_minted: digits.orNull(({ record }) => record.mint?.blockNumber.toString() ?? null),
  contract_type: contractType.orNull(({ record }) => record.contractType),
  name: text.orNull('Name of the contract, as for symbol', ({ collection }) => collection.name),
  symbol: text.orNull(({ collection }) => collection.symbol),
  token_uri: text.orNull(
    'As returned by the contract. null if it contains the metadata and exceeds 8,192 characters',
    ({ record }) => record.tokenUri,
  ),
  metadata: text.orNull(
    'Unmodified metadata: a JSON object as text',
    ({ record }) => record.document?.text ?? null,
  ),
  normalized_metadata: wire
    .wire(normalizedMetadataSchema)
    .orAbsent(({ record, wishes }) =>
      wishes.normalizeMetadata ? normalizeMetadata(record.document?.fields ?? null, record.rarity?.traits) : null,
    ),
  media: wire.wire(mediaSchema).ifRequested(({ record: { document, documentSyncedAt }, wishes }) => {
    if (!wishes.media_items) return undefined;
    return document && mediaOf(document.fields, documentSyncedAt);
  }),
  minter_address: text.orNull(
    'Sender of the transaction that minted the NFT. null for ERC-1155',
    ({ record, minters }) => (record.contractType === 'ERC1155' ? null : (minters.get(recordId(record)) ?? null)),
  ),
  last_token_uri_sync: time.orNull(
    'Time when the token URI was read last. ISO 8601, UTC. null if never.',
    ({ record }) => record.uriSyncedAt,
  ),
  last_metadata_sync: time.orNull(
    'Time when the metadata was read last. ISO 8601, UTC. null if never.',
    ({ record }) => record.documentSyncedAt,
  ),
  possible_spam: flag(({ record }) => record.possibleSpam),
  verified_collection: flag(({ record }) => record.verified),
  rarity_rank: number.orNull(
    'Rank in the collection: 1 is the rarest. null until traits are computed.',
    ({ record }) => record.rarity?.figures.rarity_rank ?? null,
  ),
  rarity_percentage: number.orNull(
    'Rank in percent of the collection. null until traits are computed.',
    ({ record }) => record.rarity?.figures.rarity_percentage ?? null,
  ),
  rarity_label: text.orNull(({ record }) => record.rarity?.figures.rarity_label ?? null),
  last_sale: inside(saleView).ifRequested(
    'Last sale paid in ether within a year. null if there is none. Only with include_prices',
    ({ record, lastSales }) => lastSales?.({ token: record.address, tokenId: record.tokenId }),
  ),
  floor_price: floorPrice('Only with include_prices. Not available, as all floor prices', nullIfPriced),
  floor_price_usd: floorPrice(nullIfPriced),
  floor_price_currency: floorPrice(nullIfPriced),
  collection_logo: text.ifRequested(({ collection }) => collection.collectionLogo),
  collection_banner_image: text.ifRequested(({ collection }) => collection.collectionBannerImage),
  collection_category: text.ifRequested(({ links }) => links?.collectionCategory),
  project_url: text.ifRequested(({ links }) => links?.projectUrl),
  wiki_url: text.ifRequested(({ links }) => links?.wikiUrl),
  discord_url: text.ifRequested(({ links }) => links?.discordUrl),
  telegram_url: text.ifRequested(({ links }) => links?.telegramUrl),
  twitter_username: text.ifRequested(({ links }) => links?.twitterUsername),
  instagram_username: text.ifRequested(({ links }) => links?.instagramUsername),
});

const listPriceSchema = z
  .object({
    listed: z.literal(false),
    price: z.null(),
    price_currency: z.null(),
    price_usd: z.null(),
    marketplace: z.null(),
  })
  .openapi('NftListPrice', { description: 'Not available: listings are not on the chain' });

const NOT_LISTED = {
  listed: false,
  price: null,
  price_currency: null,
  price_usd: null,
  marketplace: null,
} as const;

const nftFields = fieldsOf<ReturnType<typeof recordOf>>()({
  ...recordFields,
  owner_of: address.orNull('null if the NFT has no owner or several', ({ record }) => record.owner),
  list_price: wire.wire(listPriceSchema).orAbsent(({ lastSales }) => lastSales && NOT_LISTED),
});

/** docs/api/nfts.md#nft-records */
export const nftView = view('Nft', recordOf, nftFields);

export const ownedNftView = view('OwnedNft', recordOf, {
  ...recordFields,
  owner_of: address(({ record }) => record.owner ?? ZERO_ADDRESS),
});

/** docs/api/nfts.md#nft-metadata */
export const nftMetadataView = view(
  'NftMetadata',
  (indexed: Indexed, ...record: Parameters<typeof recordOf>) => ({ ...recordOf(...record), indexed }),
  { ...nftFields, indexed: indexedBlocks() },
);

/** Previews are never created. No status may promise one: clients would poll forever. */
export function mediaOf(
  fields: Readonly<Record<string, unknown>>,
  readAt: Date | null,
): z.infer<typeof mediaSchema> | null {
  const url = pictureOf(fields);
  if (url === null) return null;
  try {
    parseDocumentPlace(url);
  } catch (error) {
    if (error instanceof DocumentError) return { status: 'invalid_url', original_media_url: url };
    throw error;
  }
  return {
    status: 'unsupported_media',
    original_media_url: url,
    ...(readAt !== null && { updatedAt: readAt.toISOString() }),
  };
}

/** As at the hosted API: MD5 of lower-case contract and decimal id, in hexadecimal digits. */
export function tokenHash({ address, tokenId }: { readonly address: Address; readonly tokenId: string }): string {
  return createHash('md5').update(`${address}${tokenId}`).digest('hex');
}

export function tokenHashInSql(address: string | Sql, tokenId: string | Sql): Sql {
  return sql`md5('0x' || encode(${asSql(address)}, 'hex') || ${asSql(tokenId)}::text)`;
}
