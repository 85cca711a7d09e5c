/**
 * ERC-20 transfers, one row per *side*: the sender's and the receiver's; a self-transfer has one. A wallet's page is
 * then one range scan of one shard (docs/internals/storage-layouts.md compares this with one row per transfer).
 *
 * Partitioned by range of (chain_id, block_number), as declared by `declareStorage`: the sync engine creates the
 * partitions. Hash and time of a row's block are in `blocks`.
 */

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

/** Returns the columns of a table of such rows. Fixed-width columns come first to avoid alignment padding. */
export const sideColumns = () => ({
  /**
   * `addressKey` of `account`: first column of the indexes, distribution column on Citus. Accounts may share a value.
   */
  accountKey: int8Text('account_key').notNull(),
  chainId: bigint('chain_id', { mode: 'number' }).notNull(),
  blockNumber: integer('block_number').notNull(),
  transactionIndex: integer('transaction_index').notNull(),
  /** Unique within its transaction on every chain, within its block on most. */
  logIndex: integer('log_index').notNull(),
  /** Part of the key, for two accounts of one transfer that share an `account_key`. */
  direction: smallint('direction').$type<Direction>().notNull(),
  /** The account of this side. */
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
  // The partition determines the chain. Four bytes suffice to distinguish a wallet's tokens, and queries also compare
  // the whole token. They are the last four, because the first are alike for tokens created with a chain. Positions
  // within a block are sorted by the reader: they would be a third of each entry.
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

/** Transfer counts of requested tokens (`erc20-token-counts` in `subject_projections`) with very many transfers. */
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

/** One side of one transfer. Hexadecimal text is lower case. */
export type Erc20TransferRow = Readonly<typeof erc20Transfers.$inferSelect>;

/**
 * For requested wallets (`erc20-wallet-tokens` in `subject_projections`): each token that they moved or that was
 * requested. Base units; unbounded numeric, since a malicious contract may overflow 256 bits.
 */
export const erc20WalletTokens = pgTable(
  'erc20_wallet_tokens',
  {
    wallet: bytea('wallet').notNull(),
    chainId: bigint('chain_id', { mode: 'number' }).notNull(),
    token: bytea('token').notNull(),
    /** Received minus sent, over all indexed transfers. Negative values are possible with incomplete coverage. */
    total: numeric('total').notNull().default('0'),
    /** Position of the newest transfer; -1 if none is known. */
    movedBlock: integer('moved_block').notNull().default(-1),
    movedTransaction: integer('moved_transaction').notNull().default(-1),
    movedLog: integer('moved_log').notNull().default(-1),
    /** The block at which `balanceOf` was read; null: not yet, or that block was reorganized away. */
    anchorBlock: integer('anchor_block'),
    /** The `balanceOf` result at that block. */
    anchorValue: numeric('anchor_value', { precision: 78, scale: 0 }),
    /** Received minus sent in the blocks above the anchor. */
    since: numeric('since').notNull().default('0'),
    /** Time of the read; null: upstreams contradicted it since, and it is not shown. */
    anchoredAt: timestamp('anchored_at', { withTimezone: true }),
  },
  (table) => [
    primaryKey({ columns: [table.wallet, table.chainId, table.token] }),
    // Newest movement first, like responses.
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

/**
 * Every account that ever moved the token, except the zero address. Base units; unbounded numeric, since a malicious
 * contract may overflow 256 bits.
 */
export const erc20Holders = pgTable(
  'erc20_holders',
  {
    token: bytea('token').notNull(),
    chainId: bigint('chain_id', { mode: 'number' }).notNull(),
    account: bytea('account').notNull(),
    /** Received minus sent, over all indexed transfers. Negative values are possible with incomplete coverage. */
    total: numeric('total').notNull().default('0'),
    /** Number of transfers that changed it. */
    moves: integer('moves').notNull().default(0),
    /** Position of the first receipt; null if none is known. */
    firstBlock: integer('first_block'),
    firstTransaction: integer('first_transaction'),
    /** Kind of the first receipt: see `ACQUISITIONS`. */
    acquired: smallint('acquired'),
    /** The block at which `balanceOf` was read; null: not yet, or that block was reorganized away. */
    anchorBlock: integer('anchor_block'),
    /** The `balanceOf` result at that block. */
    anchorValue: numeric('anchor_value', { precision: 78, scale: 0 }),
    /** Received minus sent in the blocks above the anchor. */
    since: numeric('since').notNull().default('0'),
    anchoredAt: timestamp('anchored_at', { withTimezone: true }),
    /** The sort column of responses. */
    balance: numeric('balance').generatedAlwaysAs(sql`coalesce(anchor_value + since, total)`),
  },
  (table) => [
    primaryKey({ columns: [table.token, table.chainId, table.account] }),
    // Includes the anchor's block for index-only scans of pages.
    index('erc20_holders_by_balance')
      .on(table.token, table.chainId, table.balance, table.account, table.anchorBlock)
      .where(sql`balance > 0`),
    // Accounts that sent more than they are known to have received: with incomplete coverage.
    index('erc20_holders_below_zero').on(table.token, table.chainId, table.balance).where(sql`balance < 0`),
    // A reorg removes anchors with their blocks.
    index('erc20_holders_by_anchor').on(table.chainId, table.anchorBlock).where(sql`anchor_block IS NOT NULL`),
  ],
);

declareStorage(erc20Holders, { writes: 'counter', placement: distributedBy('token', 'token') });

/** One row per token. */
export const erc20HolderCounts = pgTable(
  'erc20_holder_counts',
  {
    token: bytea('token').notNull(),
    chainId: bigint('chain_id', { mode: 'number' }).notNull(),
    /** Indexed transfers. */
    transfers: bigint('transfers', { mode: 'number' }).notNull(),
    /** Accounts whose transfers have a positive sum. */
    holders: bigint('holders', { mode: 'number' }).notNull(),
    /** Minted minus burned: base units. */
    supply: numeric('supply').notNull(),
    /** The newest block with a transfer; -1 if none is left. */
    topBlock: integer('top_block').notNull(),
    /**
     * Whether every transfer was added above the earlier ones and removed from the top: then the minutes are complete.
     */
    isExact: boolean('is_exact').notNull(),
    /** `balanceOf` reads that could be compared with the sums of transfers, and those that differed. */
    readings: integer('readings').notNull().default(0),
    contradictions: integer('contradictions').notNull().default(0),
    /** Time of the first request. */
    begunAt: timestamp('begun_at', { withTimezone: true }).notNull().defaultNow(),
  },
  (table) => [primaryKey({ columns: [table.token, table.chainId] })],
);

declareStorage(erc20HolderCounts, { writes: 'counter', placement: distributedBy('token', 'token') });

/**
 * Number of accounts that became and ceased to be holders, by minute of block time and by class of their share. Minutes
 * without changes have no row.
 */
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
    /** New holders by a transaction with many transfers, and by a swap. */
    airdropped: integer('airdropped').notNull(),
    swapped: integer('swapped').notNull(),
  },
  (table) => [primaryKey({ columns: [table.token, table.chainId, table.minute, table.class] })],
);

declareStorage(erc20HolderMinutes, { writes: 'counter', placement: distributedBy('token', 'token') });
