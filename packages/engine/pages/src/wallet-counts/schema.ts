/** Counts of wallets with very many rows. A span is deleted when rows in it change. */
import { bytea, chainId, int8 } from '@chainstead/db/column-types';
import { LOCAL, storedTable } from '@chainstead/db/table-storage';
import { integer } from 'drizzle-orm/pg-core';

export const walletCounts = storedTable(
  'wallet_counts',
  {
    wallet: bytea('wallet').notNull(),
    chainId: chainId(),
    /** Spans of a wallet are disjoint. */
    firstBlock: int8('first_block').notNull(),
    lastBlock: int8('last_block').notNull(),
    sent: integer('sent').notNull(),
    involved: integer('involved').notNull(),
    nftTransfers: integer('nft_transfers').notNull(),
    tokenTransfers: integer('token_transfers').notNull(),
  },
  { writes: 'settings', placement: LOCAL, key: ['wallet', 'chainId', 'firstBlock'] },
);
