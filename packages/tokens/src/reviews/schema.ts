/** Reports of clients about contracts. */
import { bytea } from '@chainstead/db/column-types';
import { bigint, index, pgTable, primaryKey, text, timestamp } from 'drizzle-orm/pg-core';

/** Whether a contract is spam, as keys report it: of each the newest report. Nothing follows from a row before an operator applies it. */
export const contractReviews = pgTable(
  'contract_reviews',
  {
    /** Principal's id, `open` without keys: never the key. */
    keyId: text('key_id').notNull(),
    chainId: bigint('chain_id', { mode: 'number' }).notNull(),
    address: bytea('address').notNull(),
    /** ERC20 or NFT. */
    contractType: text('contract_type').notNull(),
    /** spam or not_spam. */
    reportType: text('report_type').notNull(),
    reason: text('reason').notNull(),
    reportedAt: timestamp('reported_at', { withTimezone: true }).notNull().defaultNow(),
    /** Null: it waits for the operator. */
    appliedAt: timestamp('applied_at', { withTimezone: true }),
  },
  (table) => [
    primaryKey({ columns: [table.address, table.chainId, table.contractType, table.keyId] }),
    index('contract_reviews_by_key').on(table.keyId),
  ],
);
