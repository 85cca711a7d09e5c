/** Who holds a collection: of those that somebody asked about (`nft-collection-owners` in `kept_subjects`), what its transfers add up to. */
import { bytea, uint256 } from '@chainstead/db/column-types';
import { sql } from 'drizzle-orm';
import { bigint, boolean, index, integer, numeric, pgTable, primaryKey } from 'drizzle-orm/pg-core';

/** What each owner has of each id: 1 of one thing that it received last, else what it received and gave, added up; zero for what they had. Never the zero address. */
export const nftCollectionBalances = pgTable(
  'nft_collection_balances',
  {
    tokenAddress: bytea('token_address').notNull(),
    chainId: bigint('chain_id', { mode: 'number' }).notNull(),
    tokenId: uint256('token_id').notNull(),
    owner: bytea('owner').notNull(),
    amount: numeric('amount').notNull(),
    /** Block of the newest transfer that changed it; -1 where only transfers to oneself tell of it. */
    lastBlock: integer('last_block').notNull(),
    /** Whether it is a sum, of ERC-1155: at zero or below some may be held all the same while the beginning is not indexed. */
    isSum: boolean('is_sum').notNull().default(false),
  },
  (table) => [
    primaryKey({ columns: [table.tokenAddress, table.chainId, table.tokenId, table.owner] }),
    // Newest change first, as pages of owners are.
    index('nft_collection_balances_by_change')
      .on(table.tokenAddress, table.chainId, table.lastBlock, table.tokenId, table.owner)
      .where(sql`amount > 0`),
    // The owners of one id.
    index('nft_collection_balances_by_id')
      .on(table.tokenAddress, table.chainId, table.tokenId, table.lastBlock, table.owner)
      .where(sql`amount > 0`),
    // Those of both that are to be asked about while blocks of the collection are missing.
    index('nft_collection_balances_given_by_change')
      .on(table.tokenAddress, table.chainId, table.lastBlock, table.tokenId, table.owner)
      .where(sql`amount <= 0 AND is_sum`),
    index('nft_collection_balances_given_by_id')
      .on(table.tokenAddress, table.chainId, table.tokenId, table.lastBlock, table.owner)
      .where(sql`amount <= 0 AND is_sum`),
  ],
);

/** One row for each id that ever moved. */
export const nftCollectionIds = pgTable(
  'nft_collection_ids',
  {
    tokenAddress: bytea('token_address').notNull(),
    chainId: bigint('chain_id', { mode: 'number' }).notNull(),
    tokenId: uint256('token_id').notNull(),
    /** 16 bytes: md5 of contract and id as text (`transfers/collection-owners.ts`). */
    tokenHash: bytea('token_hash').notNull(),
    /** Owners with an amount above zero. */
    holders: bigint('holders', { mode: 'number' }).notNull(),
    /** What all owners hold together. */
    supply: numeric('supply').notNull(),
    /** Block of the newest transfer that changed what anybody has of it; -1 where only transfers to oneself tell of it. */
    lastBlock: integer('last_block').notNull(),
    /** Of an id that is one thing: place of its newest transfer (block, transaction, log, item), and who received it; null for ERC-1155. */
    newest: integer('newest').array(),
    receiver: bytea('receiver'),
    /** Whether it exists: somebody received it last, or has more than zero of it. */
    isHeld: boolean('is_held').generatedAlwaysAs(
      sql`CASE WHEN receiver IS NULL THEN holders > 0 ELSE receiver <> decode('0000000000000000000000000000000000000000', 'hex') END`,
    ),
  },
  (table) => [
    primaryKey({ columns: [table.tokenAddress, table.chainId, table.tokenId] }),
    index('nft_collection_ids_by_hash').on(table.tokenAddress, table.chainId, table.tokenHash).where(sql`is_held`),
    // ERC-1155 that nobody is known to hold: while blocks of the collection are missing, somebody may.
    index('nft_collection_ids_given_by_hash')
      .on(table.tokenAddress, table.chainId, table.tokenHash)
      .where(sql`NOT is_held AND receiver IS NULL`),
    // Newest change first, as pages of owners are.
    index('nft_collection_ids_by_change')
      .on(table.tokenAddress, table.chainId, table.lastBlock, table.tokenId)
      .where(sql`is_held`),
  ],
);

/** One row for each present owner of anything of the collection. */
export const nftCollectionOwners = pgTable(
  'nft_collection_owners',
  {
    tokenAddress: bytea('token_address').notNull(),
    chainId: bigint('chain_id', { mode: 'number' }).notNull(),
    owner: bytea('owner').notNull(),
    /** Different ids of which it has an amount above zero. */
    idsHeld: bigint('ids_held', { mode: 'number' }).notNull(),
  },
  (table) => [primaryKey({ columns: [table.tokenAddress, table.chainId, table.owner] })],
);

/** How much there is of a collection. */
export const nftCollectionCounts = pgTable(
  'nft_collection_counts',
  {
    tokenAddress: bytea('token_address').notNull(),
    chainId: bigint('chain_id', { mode: 'number' }).notNull(),
    /** Rows of `nft_transfers`. */
    transfers: bigint('transfers', { mode: 'number' }).notNull(),
    /** Ids that somebody holds. */
    ids: bigint('ids', { mode: 'number' }).notNull(),
    owners: bigint('owners', { mode: 'number' }).notNull(),
  },
  (table) => [primaryKey({ columns: [table.tokenAddress, table.chainId] })],
);
