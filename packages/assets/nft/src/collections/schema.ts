import { blockRangeIndex } from '@chainstead/db/block-range-index';
import { address, blockTime, bytea, uint256 } from '@chainstead/db/column-types';
import { declareStorage, distributedBy } from '@chainstead/db/table-storage';
import { dueColumns, dueIndex } from '@chainstead/jobs/due-columns';
import { sql } from 'drizzle-orm';
import {
  bigint,
  boolean,
  index,
  integer,
  numeric,
  pgTable,
  primaryKey,
  smallint,
  text,
  timestamp,
} from 'drizzle-orm/pg-core';

export const nftCollections = pgTable(
  'nft_collections',
  {
    tokenAddress: bytea('token_address').notNull(),
    chainId: bigint('chain_id', { mode: 'number' }).notNull(),
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
    syncedAt: timestamp('synced_at', { withTimezone: true }),
    /** After a request, an event, a retry delay, or an expired refusal. */
    ...dueColumns(''),
    /** Key that waits for it (id, or `open`); null after an attempt. */
    requestedBy: text('requested_by'),
    updatedAt: timestamp('updated_at', { withTimezone: true }).notNull().defaultNow(),
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
    chainId: bigint('chain_id', { mode: 'number' }).notNull(),
    tokenId: uint256('token_id').notNull(),
    /** pending, known, none, failed. */
    status: text('status').notNull().default('pending'),
    tokenUri: text('token_uri'),
    /** The document as text: jsonb would reorder its keys. */
    metadata: text('metadata'),
    fromKnownUri: boolean('from_known_uri').notNull().default(false),
    syncedAt: timestamp('synced_at', { withTimezone: true }),
    uriSyncedAt: timestamp('uri_synced_at', { withTimezone: true }),
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

export const nftMetadataEvents = pgTable(
  'nft_metadata_events',
  {
    tokenAddress: address('token_address').notNull(),
    chainId: bigint('chain_id', { mode: 'number' }).notNull(),
    blockNumber: bigint('block_number', { mode: 'number' }).notNull(),
    transactionIndex: integer('transaction_index').notNull(),
    logIndex: integer('log_index').notNull(),
    kind: smallint('kind').$type<MetadataEventKind>().notNull(),
    fromTokenId: numeric('from_token_id', { precision: 78, scale: 0 }),
    toTokenId: numeric('to_token_id', { precision: 78, scale: 0 }),
    blockTimestamp: blockTime('block_timestamp').notNull(),
  },
  (table) => [
    primaryKey({
      columns: [table.tokenAddress, table.chainId, table.blockNumber, table.transactionIndex, table.logIndex],
    }),
    blockRangeIndex('nft_metadata_events', table),
  ],
);

declareStorage(nftMetadataEvents, { writes: 'append', placement: distributedBy('contract', 'token_address') });

/** Token ids: decimal digits, inclusive; null if it concerns the contract. */
export type MetadataEventRow = Readonly<typeof nftMetadataEvents.$inferSelect>;
