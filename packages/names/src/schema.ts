/** What names lead to. */
import { bigint, boolean, index, pgTable, primaryKey, text, timestamp } from 'drizzle-orm/pg-core';

/** Resolved names and addresses, the newest reading of each. Rows without a request for a day are deleted. */
export const resolvedNames = pgTable(
  'resolved_names',
  {
    /** ens or unstoppable. */
    service: text('service').notNull(),
    /** The requested address or name. */
    wanted: text('wanted').notNull(),
    /** The name, normalised, or the address in lower case. */
    subject: text('subject').notNull(),
    /** Null: there is none. */
    answer: text('answer'),
    /** Whether a gateway would have to be asked, and may not be. */
    offChain: boolean('off_chain').notNull(),
    /** Whose contracts said so; null where several chains had to say it. */
    chainId: bigint('chain_id', { mode: 'number' }),
    /** As of which block of that chain. */
    blockNumber: bigint('block_number', { mode: 'number' }),
    readAt: timestamp('read_at', { withTimezone: true }).notNull().defaultNow(),
  },
  (table) => [
    primaryKey({ columns: [table.service, table.wanted, table.subject] }),
    index('resolved_names_by_age').on(table.readAt),
  ],
);
