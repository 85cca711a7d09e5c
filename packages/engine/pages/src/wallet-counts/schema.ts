/**
 * Counts of wallets with very many rows, by spans of blocks: the rest is counted on request. A span is deleted as soon as
 * rows of its wallet come to its blocks or go from there.
 */
import { bytea } from '@chainstead/db/column-types';
import { declareStorage, LOCAL } from '@chainstead/db/table-storage';
import { bigint, integer, pgTable, primaryKey } from 'drizzle-orm/pg-core';

export const walletCounts = pgTable(
  'wallet_counts',
  {
    wallet: bytea('wallet').notNull(),
    chainId: bigint('chain_id', { mode: 'number' }).notNull(),
    /** Spans of a wallet are disjoint. */
    firstBlock: bigint('first_block', { mode: 'number' }).notNull(),
    lastBlock: bigint('last_block', { mode: 'number' }).notNull(),
    /** Transactions that it sent. */
    sent: integer('sent').notNull(),
    /** Transactions of its history. */
    involved: integer('involved').notNull(),
    /** Logs that moved NFTs of it. */
    nftTransfers: integer('nft_transfers').notNull(),
    /** Logs that moved ERC-20 tokens of it. */
    tokenTransfers: integer('token_transfers').notNull(),
  },
  (table) => [primaryKey({ columns: [table.wallet, table.chainId, table.firstBlock] })],
);

declareStorage(walletCounts, { writes: 'settings', placement: LOCAL });
