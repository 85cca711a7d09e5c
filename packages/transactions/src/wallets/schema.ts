/**
 * Requested wallets, on chains that store only their transactions (`TRANSACTIONS_<CHAIN>=wallets`). On Citus these stay
 * local tables of the coordinator. The transactions are in the tables of `../stored/schema.ts`; the search progress for
 * older ones is in `subject_ranges`.
 */
import { bytea } from '@chainstead/db/column-types';
import { sql } from 'drizzle-orm';
import { bigint, index, pgTable, primaryKey, timestamp } from 'drizzle-orm/pg-core';

/** One row per wallet. It is deleted without recent requests. */
export const trackedWallets = pgTable(
  'tracked_wallets',
  {
    chainId: bigint('chain_id', { mode: 'number' }).notNull(),
    wallet: bytea('wallet').notNull(),
    /** From this block on every followed block was searched for it; null until the next one is committed. */
    sinceBlock: bigint('since_block', { mode: 'number' }),
    lastRequestedAt: timestamp('asked_at', { withTimezone: true }).notNull().defaultNow(),
  },
  (table) => [
    primaryKey({ columns: [table.chainId, table.wallet] }),
    index('tracked_wallets_new').on(table.chainId).where(sql`since_block IS NULL`),
    index('tracked_wallets_by_time').on(table.chainId, table.lastRequestedAt),
  ],
);

/** The newest contiguous run of a chain's blocks that were searched for all wallets requested by then. */
export const walletWatches = pgTable('wallet_scan_state', {
  chainId: bigint('chain_id', { mode: 'number' }).primaryKey(),
  firstBlock: bigint('first_block', { mode: 'number' }).notNull(),
  /** One below `first_block` if a reorg removed all of it. */
  lastBlock: bigint('last_block', { mode: 'number' }).notNull(),
});
