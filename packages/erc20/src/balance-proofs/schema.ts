/** Where token contracts keep balances: looked for once, and kept, so that each balance is proven by one slot (docs/proofs.md). */
import { bytea, uint256 } from '@chainstead/db/column-types';
import { bigint, pgTable, primaryKey, text, timestamp } from 'drizzle-orm/pg-core';

/** How a slot follows from a holder: as the compilers do it, or Solady's own way. */
export type SlotLayout = 'solidity' | 'vyper' | 'solady';

export const erc20BalanceSlots = pgTable(
  'erc20_balance_slots',
  {
    token: bytea('token').notNull(),
    chainId: bigint('chain_id', { mode: 'number' }).notNull(),
    /** Null: none of the known places holds the balances. */
    layout: text('layout').$type<SlotLayout>(),
    /** Of the mapping; with `solady` its seed. */
    slot: uint256('slot'),
    /** The holders whose balances were compared with what lies there. */
    checkedBy: bytea('checked_by').array().notNull(),
    /** At which block. */
    checkedBlock: bigint('checked_block', { mode: 'number' }).notNull(),
    foundAt: timestamp('found_at', { withTimezone: true }).notNull().defaultNow(),
  },
  (table) => [primaryKey({ columns: [table.token, table.chainId] })],
);
