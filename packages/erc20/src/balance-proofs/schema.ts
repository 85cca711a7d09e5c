/** Storage locations of token balances: searched once, so that one slot proves a balance (docs/reference/proofs.md). */
import { bytea, uint256 } from '@chainstead/db/column-types';
import { bigint, pgTable, primaryKey, text, timestamp } from 'drizzle-orm/pg-core';

/** The slot computation for a holder: the compilers' or Solady's. */
export type SlotLayout = 'solidity' | 'vyper' | 'solady';

export const erc20BalanceSlots = pgTable(
  'erc20_balance_slots',
  {
    token: bytea('token').notNull(),
    chainId: bigint('chain_id', { mode: 'number' }).notNull(),
    /** Null: no known location holds the balances. */
    layout: text('layout').$type<SlotLayout>(),
    /** Slot of the mapping; for `solady` its seed. */
    slot: uint256('slot'),
    /** Holders whose balances were compared with the location. */
    checkedBy: bytea('checked_by').array().notNull(),
    /** The block of the comparison. */
    checkedBlock: bigint('checked_block', { mode: 'number' }).notNull(),
    foundAt: timestamp('found_at', { withTimezone: true }).notNull().defaultNow(),
  },
  (table) => [primaryKey({ columns: [table.token, table.chainId] })],
);
