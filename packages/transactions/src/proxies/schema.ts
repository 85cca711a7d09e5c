/** What contracts that act by the code of others point to. */
import { bytea } from '@chainstead/db/column-types';
import { sql } from 'drizzle-orm';
import { bigint, index, pgTable, primaryKey, text, timestamp } from 'drizzle-orm/pg-core';

/**
 * What a contract pointed to, from one block on, as nodes said of it. Read once somebody asks; closed by a block in which the contract, or its beacon, announces a
 * change, and then read again.
 */
export const contractImplementations = pgTable(
  'contract_implementations',
  {
    proxy: bytea('proxy').notNull(),
    chainId: bigint('chain_id', { mode: 'number' }).notNull(),
    /** Of a diamond's function; empty for the whole contract. */
    selector: bytea('selector').notNull(),
    fromBlock: bigint('from_block', { mode: 'number' }).notNull(),
    /** Null: until a change is announced. */
    untilBlock: bigint('until_block', { mode: 'number' }),
    /** Null: to nothing. */
    implementation: bytea('implementation'),
    /** That names the implementation. */
    beacon: bytea('beacon'),
    /** How it is known: `eip-1967`, `eip-1167` …; `none`, `unread`. */
    knownBy: text('known_by').notNull(),
    readAt: timestamp('read_at', { withTimezone: true }).notNull().defaultNow(),
  },
  (table) => [
    primaryKey({ columns: [table.proxy, table.chainId, table.selector, table.fromBlock] }),
    index('contract_implementations_by_beacon').on(table.beacon, table.chainId).where(sql`${table.beacon} IS NOT NULL`),
    index('contract_implementations_by_block').on(table.chainId, table.fromBlock),
  ],
);
