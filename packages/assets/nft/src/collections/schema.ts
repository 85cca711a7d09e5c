import { address, blockTime, bytea, chainId, int8, logPlace, moment, uint256 } from '@chainstead/db/column-types';
import { distributedBy, LOG_PLACE, storedTable } from '@chainstead/db/table-storage';
import { dueColumns, dueIndex } from '@chainstead/jobs/due-columns';
import { sql } from 'drizzle-orm';
import { boolean, index, pgTable, primaryKey, smallint, text } from 'drizzle-orm/pg-core';

export const nftCollections = pgTable(
  'nft_collections',
  {
    tokenAddress: bytea('token_address').notNull(),
    chainId: chainId(),
    /** pending, known, not-nft, not-contract, failed. */
    status: text('status').notNull().default('pending'),
    contractType: text('contract_type'),
    name: text('name'),
    symbol: text('symbol'),
    contractUri: text('contract_uri'),
    baseUri: text('base_uri'),
    collectionLogo: text('collection_logo'),
    collectionBannerImage: text('collection_banner_image'),
    collectionCategory: text('collection_category'),
    projectUrl: text('project_url'),
    wikiUrl: text('wiki_url'),
    discordUrl: text('discord_url'),
    telegramUrl: text('telegram_url'),
    twitterUsername: text('twitter_username'),
    instagramUsername: text('instagram_username'),
    syncedAt: moment('synced_at'),
    /** After a request, an event, a retry delay, or an expired refusal. */
    ...dueColumns(''),
    /** Key that waits for it (id, or `open`); null after an attempt. */
    requestedBy: text('requested_by'),
    updatedAt: moment('updated_at').notNull().defaultNow(),
  },
  (table) => [
    primaryKey({ columns: [table.tokenAddress, table.chainId] }),
    // Clients can cause many refusals: kept apart from rows to read.
    dueIndex('nft_collections_due', table, `status NOT IN ('not-nft', 'not-contract')`),
    index('nft_collections_refused').on(table.dueAt).where(sql`status IN ('not-nft', 'not-contract')`),
    index('nft_collections_requested').on(table.requestedBy).where(sql`requested_by IS NOT NULL`),
  ],
);

export const nftTokenMetadata = pgTable(
  'nft_token_metadata',
  {
    tokenAddress: bytea('token_address').notNull(),
    chainId: chainId(),
    tokenId: uint256('token_id').notNull(),
    /** pending, known, none, failed. */
    status: text('status').notNull().default('pending'),
    tokenUri: text('token_uri'),
    /** The document as text: jsonb would reorder its keys. */
    metadata: text('metadata'),
    fromKnownUri: boolean('from_known_uri').notNull().default(false),
    syncedAt: moment('synced_at'),
    uriSyncedAt: moment('uri_synced_at'),
    ...dueColumns(''),
    requestedBy: text('requested_by'),
  },
  (table) => [
    primaryKey({ columns: [table.tokenAddress, table.chainId, table.tokenId] }),
    dueIndex('nft_token_metadata_due', table),
    index('nft_token_metadata_requested').on(table.requestedBy).where(sql`requested_by IS NOT NULL`),
  ],
);

/** 0: tokens, 1: the contract. */
export type MetadataEventKind = 0 | 1;

export const nftMetadataEvents = storedTable(
  'nft_metadata_events',
  {
    tokenAddress: address('token_address').notNull(),
    ...logPlace(),
    blockNumber: int8('block_number').notNull(),
    kind: smallint('kind').$type<MetadataEventKind>().notNull(),
    fromTokenId: uint256('from_token_id'),
    toTokenId: uint256('to_token_id'),
    blockTimestamp: blockTime('block_timestamp').notNull(),
  },
  {
    writes: 'append',
    placement: distributedBy('contract', 'token_address'),
    key: ['tokenAddress', ...LOG_PLACE],
  },
);

/** Token ids: decimal digits, inclusive; null if it concerns the contract. */
export type MetadataEventRow = Readonly<typeof nftMetadataEvents.$inferSelect>;
