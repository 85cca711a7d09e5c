/** What collections and tokens say of themselves off the chain, read on demand; and events that ask for it to be read again. */
import { blockRangeIndex } from '@chainstead/db/block-range-index';
import { address, blockTime, bytea, uint256 } from '@chainstead/db/column-types';
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

/** One row for each contract whose metadata was asked for. Name, symbol and standard are also in `tokens`. */
export const nftCollections = pgTable(
  'nft_collections',
  {
    tokenAddress: bytea('token_address').notNull(),
    chainId: bigint('chain_id', { mode: 'number' }).notNull(),
    /** pending, known, not-nft, not-contract, failed. */
    status: text('status').notNull().default('pending'),
    /** ERC721, ERC1155; null while unknown. */
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
    /** Null until it has been read for the first time. */
    syncedAt: timestamp('synced_at', { withTimezone: true }),
    /** When it is to be read (again): a request, an event, a failure's back-off, a refusal's end. Null: not by itself. */
    dueAt: timestamp('due_at', { withTimezone: true }),
    attempts: integer('attempts').notNull().default(0),
    /** Code and text of what went wrong last; null after success. */
    errorCode: text('error_code'),
    errorMessage: text('error_message'),
    /** Whose request waits for it (the key's id, or `open`); null once it was tried, and for what nobody asked for. */
    requestedBy: text('requested_by'),
    updatedAt: timestamp('updated_at', { withTimezone: true }).notNull().defaultNow(),
  },
  (table) => [
    primaryKey({ columns: [table.tokenAddress, table.chainId] }),
    // Refusals, which strangers can make many of, lie apart from what is to be read.
    index('nft_collections_due').on(table.dueAt).where(sql`status NOT IN ('not-nft', 'not-contract')`),
    index('nft_collections_refused').on(table.dueAt).where(sql`status IN ('not-nft', 'not-contract')`),
    index('nft_collections_requested').on(table.requestedBy).where(sql`requested_by IS NOT NULL`),
  ],
);

/** Entries of imported collection lists, kept with their source; what they say wins over what the contract says. */
export const collectionListEntries = pgTable(
  'collection_list_entries',
  {
    tokenAddress: bytea('token_address').notNull(),
    chainId: bigint('chain_id', { mode: 'number' }).notNull(),
    source: text('source').notNull(),
    name: text('name'),
    symbol: text('symbol'),
    collectionLogo: text('collection_logo'),
    collectionBannerImage: text('collection_banner_image'),
    collectionCategory: text('collection_category'),
    projectUrl: text('project_url'),
    wikiUrl: text('wiki_url'),
    discordUrl: text('discord_url'),
    telegramUrl: text('telegram_url'),
    twitterUsername: text('twitter_username'),
    instagramUsername: text('instagram_username'),
    verified: boolean('verified'),
    possibleSpam: boolean('possible_spam'),
  },
  (table) => [primaryKey({ columns: [table.tokenAddress, table.chainId, table.source] })],
);

/** One row for each token whose metadata was asked for. */
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
    /** What the next reading begins with: where the document was the last time, or the contract. */
    fromKnownUri: boolean('from_known_uri').notNull().default(false),
    /** When the document was read. */
    syncedAt: timestamp('synced_at', { withTimezone: true }),
    /** When the contract was asked for the URI. */
    uriSyncedAt: timestamp('uri_synced_at', { withTimezone: true }),
    dueAt: timestamp('due_at', { withTimezone: true }),
    attempts: integer('attempts').notNull().default(0),
    errorCode: text('error_code'),
    errorMessage: text('error_message'),
    requestedBy: text('requested_by'),
  },
  (table) => [
    primaryKey({ columns: [table.tokenAddress, table.chainId, table.tokenId] }),
    index('nft_token_metadata_due').on(table.dueAt),
    index('nft_token_metadata_requested').on(table.requestedBy).where(sql`requested_by IS NOT NULL`),
  ],
);

/** 0: of tokens, 1: of the contract. */
export type MetadataEventKind = 0 | 1;

/** MetadataUpdate, BatchMetadataUpdate (ERC-4906), ContractURIUpdated (ERC-7572), URI (ERC-1155). */
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

/** An event that says that metadata has changed. Token ids: decimal digits, inclusive; null where it is about the contract. */
export type MetadataEventRow = Readonly<typeof nftMetadataEvents.$inferSelect>;
