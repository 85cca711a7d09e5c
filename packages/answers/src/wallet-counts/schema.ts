/**
 * What was counted of wallets that have very much, by stretches of blocks: the rest is counted when somebody asks. A stretch is forgotten as soon as
 * rows of its wallet come to its blocks or go from there.
 */
import { bytea } from '@chainstead/db/column-types';
import { bigint, integer, pgTable, primaryKey } from 'drizzle-orm/pg-core';

export const walletCounts = pgTable(
  'wallet_counts',
  {
    wallet: bytea('wallet').notNull(),
    chainId: bigint('chain_id', { mode: 'number' }).notNull(),
    /** Stretches of a wallet are disjoint. */
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
