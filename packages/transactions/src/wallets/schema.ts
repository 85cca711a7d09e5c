/**
 * Wallets whose transactions somebody asked for, on chains that keep only those (`TRANSACTIONS_<CHAIN>=wallets`). On Citus these stay local tables
 * of the coordinator. The transactions themselves are in the tables of `../stored/schema.ts`; what was searched for older ones is in `subject_ranges`.
 */
import { bytea } from '@chainstead/db/column-types';
import { sql } from 'drizzle-orm';
import { bigint, index, pgTable, primaryKey, timestamp } from 'drizzle-orm/pg-core';

/** One row a wallet. One that nobody asks for any more goes. */
export const askedWallets = pgTable(
  'asked_wallets',
  {
    chainId: bigint('chain_id', { mode: 'number' }).notNull(),
    wallet: bytea('wallet').notNull(),
    /** From this block on every followed block was searched for it; null until the next one is committed. */
    sinceBlock: bigint('since_block', { mode: 'number' }),
    askedAt: timestamp('asked_at', { withTimezone: true }).notNull().defaultNow(),
  },
  (table) => [
    primaryKey({ columns: [table.chainId, table.wallet] }),
    index('asked_wallets_new').on(table.chainId).where(sql`since_block IS NULL`),
    index('asked_wallets_by_time').on(table.chainId, table.askedAt),
  ],
);

/** The newest unbroken run of a chain's blocks that were searched for all wallets which were asked for by then. */
export const walletWatches = pgTable('wallet_watches', {
  chainId: bigint('chain_id', { mode: 'number' }).primaryKey(),
  firstBlock: bigint('first_block', { mode: 'number' }).notNull(),
  /** One below `first_block` where a reorganisation took all of it. */
  lastBlock: bigint('last_block', { mode: 'number' }).notNull(),
});
