/** Who holds a token: of tokens that somebody asked about (`erc20-token-holders` in `kept_subjects`), docs/balances.md. */
import { bytea } from '@chainstead/db/column-types';
import { sql } from 'drizzle-orm';
import {
  bigint,
  boolean,
  index,
  integer,
  numeric,
  pgTable,
  primaryKey,
  smallint,
  timestamp,
} from 'drizzle-orm/pg-core';

/**
 * Every account that ever moved some of the token, never the zero address. Base units; unbounded numeric, since a lying contract may overflow
 * 256 bits.
 */
export const erc20Holders = pgTable(
  'erc20_holders',
  {
    token: bytea('token').notNull(),
    chainId: bigint('chain_id', { mode: 'number' }).notNull(),
    account: bytea('account').notNull(),
    /** Received less sent, of every indexed transfer. Below zero while history is incomplete. */
    total: numeric('total').notNull().default('0'),
    /** Transfers that changed it. */
    moves: integer('moves').notNull().default(0),
    /** Place of the first receipt; null where none is known. */
    firstBlock: integer('first_block'),
    firstTransaction: integer('first_transaction'),
    /** How it came by the first: see `ACQUISITIONS`. */
    acquired: smallint('acquired'),
    /** The block at which `balanceOf` was read; null: not yet, or that block was reorganised away. */
    anchorBlock: integer('anchor_block'),
    /** What `balanceOf` said there. */
    anchorValue: numeric('anchor_value', { precision: 78, scale: 0 }),
    /** Received less sent in the blocks above the anchor. */
    since: numeric('since').notNull().default('0'),
    anchoredAt: timestamp('anchored_at', { withTimezone: true }),
    /** What answers are ordered by. */
    balance: numeric('balance').generatedAlwaysAs(sql`coalesce(anchor_value + since, total)`),
  },
  (table) => [
    primaryKey({ columns: [table.token, table.chainId, table.account] }),
    // With the anchor's block, pages are read from it alone.
    index('erc20_holders_by_balance')
      .on(table.token, table.chainId, table.balance, table.account, table.anchorBlock)
      .where(sql`balance > 0`),
    // Who gave what is not known to have come: while history is incomplete.
    index('erc20_holders_below_zero').on(table.token, table.chainId, table.balance).where(sql`balance < 0`),
    // Anchors go with their block.
    index('erc20_holders_by_anchor').on(table.chainId, table.anchorBlock).where(sql`anchor_block IS NOT NULL`),
  ],
);

/** One row a token. */
export const erc20HolderCounts = pgTable(
  'erc20_holder_counts',
  {
    token: bytea('token').notNull(),
    chainId: bigint('chain_id', { mode: 'number' }).notNull(),
    /** Indexed transfers. */
    transfers: bigint('transfers', { mode: 'number' }).notNull(),
    /** Accounts of which the transfers add up to more than nothing. */
    holders: bigint('holders', { mode: 'number' }).notNull(),
    /** Minted less burned: base units. */
    supply: numeric('supply').notNull(),
    /** The newest block with a transfer; -1 where none is left. */
    topBlock: integer('top_block').notNull(),
    /** Whether every transfer came above those before it, and went from the top: then the minutes tell what all of them cause. */
    isExact: boolean('is_exact').notNull(),
    /** Readings of `balanceOf` that could be compared with what transfers add up to, and those that differed. */
    readings: integer('readings').notNull().default(0),
    contradictions: integer('contradictions').notNull().default(0),
    /** When it was first asked about. */
    begunAt: timestamp('begun_at', { withTimezone: true }).notNull().defaultNow(),
  },
  (table) => [primaryKey({ columns: [table.token, table.chainId] })],
);

/** How many accounts began and ceased to hold a token, by minute of the block's time and by class of their share. Minutes without any have no row. */
export const erc20HolderMinutes = pgTable(
  'erc20_holder_minutes',
  {
    token: bytea('token').notNull(),
    chainId: bigint('chain_id', { mode: 'number' }).notNull(),
    minute: timestamp('minute', { withTimezone: true }).notNull(),
    /** See `HOLDER_CLASSES`. */
    class: smallint('class').notNull(),
    came: integer('came').notNull(),
    gone: integer('gone').notNull(),
    /** Of those that came: in a transaction with many transfers, and in a swap. */
    airdropped: integer('airdropped').notNull(),
    swapped: integer('swapped').notNull(),
  },
  (table) => [primaryKey({ columns: [table.token, table.chainId, table.minute, table.class] })],
);
