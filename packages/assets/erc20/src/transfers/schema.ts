/** One row per *side*: a wallet's page is one range scan (docs/internals/storage-layouts.md). */

import { blockRangeIndex } from '@chainstead/db/block-range-index';
import { address, bytea, hash, int8Text, uint256 } from '@chainstead/db/column-types';
import { type Direction, IS_GIVING_SIDE } from '@chainstead/db/direction';
import { declareStorage, distributedBy } from '@chainstead/db/table-storage';
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
import { anchorColumns } from './anchors.ts';

/** Fixed-width columns come first to avoid alignment padding. */
export const sideColumns = () => ({
  /** `addressKey` of `account`; distribution column on Citus. Accounts may share a value. */
  accountKey: int8Text('account_key').notNull(),
  chainId: bigint('chain_id', { mode: 'number' }).notNull(),
  blockNumber: integer('block_number').notNull(),
  transactionIndex: integer('transaction_index').notNull(),
  /** Unique within its transaction on every chain, within its block on most. */
  logIndex: integer('log_index').notNull(),
  /** In the key, for two accounts of one transfer that share an `account_key`. */
  direction: smallint('direction').$type<Direction>().notNull(),
  account: address('account').notNull(),
  token: address('token').notNull(),
  counterparty: address('counterparty').notNull(),
  /** Base units. */
  value: uint256('value').notNull(),
  transactionHash: hash('transaction_hash').notNull(),
});

export const erc20Transfers = pgTable('erc20_transfer_sides', sideColumns(), (table) => [
  primaryKey({
    columns: [
      table.accountKey,
      table.chainId,
      table.blockNumber,
      table.transactionIndex,
      table.logIndex,
      table.direction,
    ],
  }),
  // Four bytes of the token suffice: queries compare it whole, too. The last four: tokens created
  // with a chain share the first. Positions in a block would be a third of each entry.
  index('erc20_transfer_sides_by_token').on(table.accountKey, sql`token_key(token)`, table.blockNumber),
  // Each transfer once: the side that did not only receive.
  index('erc20_transfer_sides_by_contract').on(sql`token_key(token)`, table.blockNumber).where(sql.raw(IS_GIVING_SIDE)),
  blockRangeIndex('erc20_transfer_sides', table, 'int4'),
]);

declareStorage(erc20Transfers, {
  writes: 'append',
  placement: distributedBy('account', 'account_key'),
  isPartitioned: true,
});

export const erc20TokenCounts = pgTable(
  'erc20_token_counts',
  {
    token: bytea('token').notNull(),
    chainId: bigint('chain_id', { mode: 'number' }).notNull(),
    transfers: bigint('transfers', { mode: 'number' }).notNull(),
  },
  (table) => [primaryKey({ columns: [table.token, table.chainId] })],
);

declareStorage(erc20TokenCounts, { writes: 'counter', placement: distributedBy('token', 'token') });

export type Erc20TransferRow = Readonly<typeof erc20Transfers.$inferSelect>;

/** Rows of requested wallets. Base units; unbounded: a malicious contract may overflow 256 bits. */
export const erc20WalletTokens = pgTable(
  'erc20_wallet_tokens',
  {
    wallet: bytea('wallet').notNull(),
    chainId: bigint('chain_id', { mode: 'number' }).notNull(),
    token: bytea('token').notNull(),
    /** Received minus sent. May be negative with incomplete coverage. */
    total: numeric('total').notNull().default('0'),
    /** Place of the newest transfer; -1: none. */
    movedBlock: integer('moved_block').notNull().default(-1),
    movedTransaction: integer('moved_transaction').notNull().default(-1),
    movedLog: integer('moved_log').notNull().default(-1),
    ...anchorColumns(),
  },
  (table) => [
    primaryKey({ columns: [table.wallet, table.chainId, table.token] }),
    // In page order.
    index('erc20_wallet_tokens_by_movement').on(
      table.wallet,
      table.chainId,
      table.movedBlock,
      table.movedTransaction,
      table.movedLog,
      table.token,
    ),
    // A reorg removes anchors with their blocks.
    index('erc20_wallet_tokens_by_anchor').on(table.chainId, table.anchorBlock).where(sql`anchor_block IS NOT NULL`),
  ],
);

declareStorage(erc20WalletTokens, { writes: 'counter', placement: distributedBy('wallet', 'wallet') });

/** All but the zero address. Base units; unbounded: a malicious contract may overflow 256 bits. */
export const erc20Holders = pgTable(
  'erc20_holders',
  {
    token: bytea('token').notNull(),
    chainId: bigint('chain_id', { mode: 'number' }).notNull(),
    account: bytea('account').notNull(),
    /** Received minus sent. May be negative with incomplete coverage. */
    total: numeric('total').notNull().default('0'),
    moves: integer('moves').notNull().default(0),
    /** First receipt; null: none is known. */
    firstBlock: integer('first_block'),
    firstTransaction: integer('first_transaction'),
    /** Index of `ACQUISITIONS`. */
    acquired: smallint('acquired'),
    ...anchorColumns(),
    /** The sort column of responses. */
    balance: numeric('balance').generatedAlwaysAs(sql`coalesce(anchor_value + since, total)`),
  },
  (table) => [
    primaryKey({ columns: [table.token, table.chainId, table.account] }),
    // Includes the anchor's block for index-only scans of pages.
    index('erc20_holders_by_balance')
      .on(table.token, table.chainId, table.balance, table.account, table.anchorBlock)
      .where(sql`balance > 0`),
    index('erc20_holders_below_zero').on(table.token, table.chainId, table.balance).where(sql`balance < 0`),
    // A reorg removes anchors with their blocks.
    index('erc20_holders_by_anchor').on(table.chainId, table.anchorBlock).where(sql`anchor_block IS NOT NULL`),
  ],
);

declareStorage(erc20Holders, { writes: 'counter', placement: distributedBy('token', 'token') });

export const erc20HolderCounts = pgTable(
  'erc20_holder_counts',
  {
    token: bytea('token').notNull(),
    chainId: bigint('chain_id', { mode: 'number' }).notNull(),
    transfers: bigint('transfers', { mode: 'number' }).notNull(),
    /** Accounts whose transfers have a positive sum. */
    holders: bigint('holders', { mode: 'number' }).notNull(),
    /** Base units minted minus burned. */
    supply: numeric('supply').notNull(),
    /** Newest block with a transfer; -1: none. */
    topBlock: integer('top_block').notNull(),
    /** Transfers were only added above and removed from the top: the minutes are complete. */
    isExact: boolean('is_exact').notNull(),
    /** `balanceOf` reads compared with sums of transfers, and those that differed. */
    readings: integer('readings').notNull().default(0),
    contradictions: integer('contradictions').notNull().default(0),
    begunAt: timestamp('begun_at', { withTimezone: true }).notNull().defaultNow(),
  },
  (table) => [primaryKey({ columns: [table.token, table.chainId] })],
);

declareStorage(erc20HolderCounts, { writes: 'counter', placement: distributedBy('token', 'token') });

/** By minute of block time and class. No row: no change. */
export const erc20HolderMinutes = pgTable(
  'erc20_holder_minutes',
  {
    token: bytea('token').notNull(),
    chainId: bigint('chain_id', { mode: 'number' }).notNull(),
    minute: timestamp('minute', { withTimezone: true }).notNull(),
    /** Index of `HOLDER_CLASSES`. */
    class: smallint('class').notNull(),
    came: integer('came').notNull(),
    gone: integer('gone').notNull(),
    airdropped: integer('airdropped').notNull(),
    swapped: integer('swapped').notNull(),
  },
  (table) => [primaryKey({ columns: [table.token, table.chainId, table.minute, table.class] })],
);

declareStorage(erc20HolderMinutes, { writes: 'counter', placement: distributedBy('token', 'token') });
