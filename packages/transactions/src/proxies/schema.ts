/** The implementations of contracts that delegate to other code. */
import { bytea } from '@chainstead/db/column-types';
import { sql } from 'drizzle-orm';
import { bigint, index, pgTable, primaryKey, text, timestamp } from 'drizzle-orm/pg-core';

/**
 * A contract's implementation, from one block on, as nodes reported it. Read on request; ended by a block in which the
 * contract, or its beacon, announces a change, and then read again.
 */
export const contractImplementations = pgTable(
  'contract_implementations',
  {
    proxy: bytea('proxy').notNull(),
    chainId: bigint('chain_id', { mode: 'number' }).notNull(),
    /** A diamond's function; empty for the whole contract. */
    selector: bytea('selector').notNull(),
    fromBlock: bigint('from_block', { mode: 'number' }).notNull(),
    /** Null: until a change is announced. */
    untilBlock: bigint('until_block', { mode: 'number' }),
    /** Null: none. */
    implementation: bytea('implementation'),
    /** The beacon that provides the implementation. */
    beacon: bytea('beacon'),
    /** How it was found: `eip-1967`, `eip-1167` …; `none`, `unread`. */
    knownBy: text('known_by').notNull(),
    readAt: timestamp('read_at', { withTimezone: true }).notNull().defaultNow(),
  },
  (table) => [
    primaryKey({ columns: [table.proxy, table.chainId, table.selector, table.fromBlock] }),
    index('contract_implementations_by_beacon').on(table.beacon, table.chainId).where(sql`${table.beacon} IS NOT NULL`),
    index('contract_implementations_by_block').on(table.chainId, table.fromBlock),
  ],
);
