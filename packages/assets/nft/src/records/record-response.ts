import { createHash } from 'node:crypto';
import { type Address, ZERO_ADDRESS } from '@chainstead/core';
import { asSql, type Sql, sql } from '@chainstead/db';
import { z } from '@hono/zod-openapi';
import { DocumentError, parseDocumentPlace } from '../collections/document-place.ts';
import type { LastSale } from '../sale-prices/get-last-sales.ts';
import { salePricesSchema } from '../sale-prices/sale-prices-response.ts';
import { type NftRecord, recordId } from './nft-record.ts';
import { normalizedMetadataSchema, normalizeMetadata, pictureOf } from './normalized-metadata.ts';

const text = z.string().nullable();
const digits = z.string().openapi({ pattern: '^[0-9]+$', example: '7781' });
const addressText = z.string().openapi({ pattern: '^0x[0-9a-f]{40}$' });
const moment = z.iso.datetime({ precision: 3 }).nullable();

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

const recordShape = {
  token_address: addressText,
  token_id: z.string().openapi({
    pattern: '^([0-9]+|0x[0-9a-f]+)$',
    example: '7781',
    description: 'Decimal digits, or as set by format',
  }),
  amount: digits.nullable().openapi({
    description: 'Number of units held by the owner, "1" for ERC-721. null if unknown',
  }),
  token_hash: z.string().openapi({ pattern: '^[0-9a-f]{32}$', example: 'ab96a59f7d41a8648adee2f63d1386ce' }),
  block_number: digits.nullable().openapi({ description: 'Block of the newest change of owner or amount' }),
  block_number_minted: digits.nullable(),
  contract_type: z.enum(['ERC721', 'ERC1155']).nullable(),
  name: text.openapi({ description: 'Name of the contract, as for symbol' }),
  symbol: text,
  token_uri: text.openapi({
    description: 'As returned by the contract. null if it contains the metadata and exceeds 8,192 characters',
  }),
  metadata: text.openapi({ description: 'Unmodified metadata: a JSON object as text' }),
  normalized_metadata: normalizedMetadataSchema.optional(),
  media: mediaSchema.nullable().optional(),
  minter_address: text.openapi({
    description: 'Sender of the transaction that minted the NFT. null for ERC-1155',
  }),
  last_token_uri_sync: moment,
  last_metadata_sync: moment,
  possible_spam: z.boolean(),
  verified_collection: z.boolean(),
  rarity_rank: z.number().nullable(),
  rarity_percentage: z.number().nullable(),
  rarity_label: text,
  last_sale: salePricesSchema.shape.last_sale.optional().openapi({
    description: 'Last sale paid in ether within a year. null if there is none. Only with include_prices',
  }),
  floor_price: z.null().optional().openapi({
    description: 'Only with include_prices. Not available, as all floor prices',
  }),
  floor_price_usd: z.null().optional(),
  floor_price_currency: z.null().optional(),
  collection_logo: text.optional(),
  collection_banner_image: text.optional(),
  collection_category: text.optional(),
  project_url: text.optional(),
  wiki_url: text.optional(),
  discord_url: text.optional(),
  telegram_url: text.optional(),
  twitter_username: text.optional(),
  instagram_username: text.optional(),
};

const listPriceSchema = z
  .object({
    listed: z.literal(false),
    price: z.null(),
    price_currency: z.null(),
    price_usd: z.null(),
    marketplace: z.null(),
  })
  .openapi('NftListPrice', { description: 'Not available: listings are not on the chain' });

/** docs/api/nfts.md#nft-records */
export const nftSchema = z
  .object({
    ...recordShape,
    owner_of: addressText.nullable().openapi({ description: 'null if the NFT has no owner or several' }),
    list_price: listPriceSchema.optional(),
  })
  .openapi('Nft');

export const ownedNftSchema = z.object({ ...recordShape, owner_of: addressText }).openapi('OwnedNft');

type CollectionPart = 'none' | 'pictures' | 'all';

export interface NftRecordOptions {
  readonly format: 'decimal' | 'hex';
  readonly normalizeMetadata: boolean;
  readonly mediaItems: boolean;
  readonly collection: CollectionPart;
  readonly lastSales: ((token: { readonly token: Address; readonly tokenId: string }) => LastSale) | null;
  /** By {@link recordId}. */
  readonly minters: ReadonlyMap<string, Address>;
}

export function showNft(record: NftRecord, options: NftRecordOptions): z.infer<typeof nftSchema> {
  return {
    ...showRecord(record, options),
    owner_of: record.owner,
    ...(options.lastSales !== null && { list_price: NOT_LISTED }),
  };
}

export function showOwnedNft(record: NftRecord, options: NftRecordOptions): z.infer<typeof ownedNftSchema> {
  return { ...showRecord(record, options), owner_of: record.owner ?? ZERO_ADDRESS };
}

const NO_RARITY = { rarity_rank: null, rarity_percentage: null, rarity_label: null };
const NOT_LISTED = {
  listed: false,
  price: null,
  price_currency: null,
  price_usd: null,
  marketplace: null,
} as const;

function showRecord(record: NftRecord, options: NftRecordOptions) {
  const { document } = record;
  const id = recordId(record);
  return {
    token_address: record.address,
    token_id: options.format === 'hex' ? `0x${BigInt(record.tokenId).toString(16)}` : record.tokenId,
    amount: record.amount,
    token_hash: tokenHash(record),
    block_number: record.blockNumber?.toString() ?? null,
    block_number_minted: record.mint?.blockNumber.toString() ?? null,
    contract_type: record.contractType,
    name: record.collection.name,
    symbol: record.collection.symbol,
    token_uri: record.tokenUri,
    metadata: document?.text ?? null,
    ...(options.normalizeMetadata && {
      normalized_metadata: normalizeMetadata(document?.fields ?? null, record.rarity?.traits),
    }),
    ...(options.mediaItems && {
      media: document === null ? null : mediaOf(document.fields, record.documentSyncedAt),
    }),
    minter_address: record.contractType === 'ERC1155' ? null : (options.minters.get(id) ?? null),
    last_token_uri_sync: record.uriSyncedAt?.toISOString() ?? null,
    last_metadata_sync: record.documentSyncedAt?.toISOString() ?? null,
    possible_spam: record.possibleSpam,
    verified_collection: record.verified,
    ...(record.rarity?.figures ?? NO_RARITY),
    ...(options.lastSales !== null && {
      last_sale: options.lastSales({ token: record.address, tokenId: record.tokenId }),
      floor_price: null,
      floor_price_usd: null,
      floor_price_currency: null,
    }),
    ...showCollectionPart(record, options.collection),
  };
}

function showCollectionPart({ collection }: NftRecord, part: CollectionPart) {
  if (part === 'none') return {};
  const pictures = {
    collection_logo: collection.collectionLogo,
    collection_banner_image: collection.collectionBannerImage,
  };
  if (part === 'pictures') return pictures;
  return {
    ...pictures,
    collection_category: collection.collectionCategory,
    project_url: collection.projectUrl,
    wiki_url: collection.wikiUrl,
    discord_url: collection.discordUrl,
    telegram_url: collection.telegramUrl,
    twitter_username: collection.twitterUsername,
    instagram_username: collection.instagramUsername,
  };
}

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
