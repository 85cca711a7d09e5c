/** Counts of wallets with very many rows. A span is deleted when rows in it change. */
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
    sent: integer('sent').notNull(),
    involved: integer('involved').notNull(),
    nftTransfers: integer('nft_transfers').notNull(),
    tokenTransfers: integer('token_transfers').notNull(),
  },
  (table) => [primaryKey({ columns: [table.wallet, table.chainId, table.firstBlock] })],
);

declareStorage(walletCounts, { writes: 'settings', placement: LOCAL });
