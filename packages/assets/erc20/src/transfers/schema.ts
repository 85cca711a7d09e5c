/** One row per *side*: a wallet's page is one range scan (docs/internals/storage-layouts.md). */

import {
  address,
  bytea,
  chainId,
  type Direction,
  hash,
  IS_GIVING_SIDE,
  int8,
  int8Text,
  logPlace,
  moment,
  uint256,
} from '@chainstead/db/column-types';
import { distributedBy, LOG_PLACE, storedTable } from '@chainstead/db/table-storage';
import { sql } from 'drizzle-orm';
import { boolean, index, integer, numeric, smallint } from 'drizzle-orm/pg-core';
import { anchorColumns } from './anchors.ts';

/** Fixed-width columns come first to avoid alignment padding. */
export const sideColumns = () => ({
  /** `addressKey` of `account`; distribution column on Citus. Accounts may share a value. */
  accountKey: int8Text('account_key').notNull(),
  ...logPlace(),
  /** In the key, for two accounts of one transfer that share an `account_key`. */
  direction: smallint('direction').$type<Direction>().notNull(),
  account: address('account').notNull(),
  token: address('token').notNull(),
  counterparty: address('counterparty').notNull(),
  /** Base units. */
  value: uint256('value').notNull(),
  transactionHash: hash('transaction_hash').notNull(),
});

export const erc20Transfers = storedTable('erc20_transfer_sides', sideColumns(), {
  writes: 'append',
  placement: distributedBy('account', 'account_key'),
  isPartitioned: true,
  key: ['accountKey', ...LOG_PLACE, 'direction'],
  indexes: (table) => [
    // Four bytes of the token suffice: queries compare it whole, too. The last four: tokens created
    // with a chain share the first. Positions in a block would be a third of each entry.
    index('erc20_transfer_sides_by_token').on(table.accountKey, sql`token_key(token)`, table.blockNumber),
    // Each transfer once: the side that did not only receive.
    index('erc20_transfer_sides_by_contract')
      .on(sql`token_key(token)`, table.blockNumber)
      .where(sql.raw(IS_GIVING_SIDE)),
  ],
});

export const erc20TokenCounts = storedTable(
  'erc20_token_counts',
  {
    token: bytea('token').notNull(),
    chainId: chainId(),
    transfers: int8('transfers').notNull(),
  },
  { writes: 'counter', placement: distributedBy('token', 'token'), key: ['token', 'chainId'] },
);

export type Erc20TransferRow = Readonly<typeof erc20Transfers.$inferSelect>;

/** Rows of requested wallets. Base units; unbounded: a malicious contract may overflow 256 bits. */
export const erc20WalletTokens = storedTable(
  'erc20_wallet_tokens',
  {
    wallet: bytea('wallet').notNull(),
    chainId: chainId(),
    token: bytea('token').notNull(),
    /** Received minus sent. May be negative with incomplete coverage. */
    total: numeric('total').notNull().default('0'),
    /** Place of the newest transfer; -1: none. */
    movedBlock: integer('moved_block').notNull().default(-1),
    movedTransaction: integer('moved_transaction').notNull().default(-1),
    movedLog: integer('moved_log').notNull().default(-1),
    ...anchorColumns(),
  },
  {
    writes: 'counter',
    placement: distributedBy('wallet', 'wallet'),
    key: ['wallet', 'chainId', 'token'],
    indexes: (table) => [
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
      index('erc20_wallet_tokens_by_anchor')
        .on(table.chainId, table.anchorBlock)
        .where(sql`anchor_block IS NOT NULL`),
    ],
  },
);

/** All but the zero address. Base units; unbounded: a malicious contract may overflow 256 bits. */
export const erc20Holders = storedTable(
  'erc20_holders',
  {
    token: bytea('token').notNull(),
    chainId: chainId(),
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
  {
    writes: 'counter',
    placement: distributedBy('token', 'token'),
    key: ['token', 'chainId', 'account'],
    indexes: (table) => [
      // Includes the anchor's block for index-only scans of pages.
      index('erc20_holders_by_balance')
        .on(table.token, table.chainId, table.balance, table.account, table.anchorBlock)
        .where(sql`balance > 0`),
      index('erc20_holders_below_zero').on(table.token, table.chainId, table.balance).where(sql`balance < 0`),
      // A reorg removes anchors with their blocks.
      index('erc20_holders_by_anchor').on(table.chainId, table.anchorBlock).where(sql`anchor_block IS NOT NULL`),
    ],
  },
);

export const erc20HolderCounts = storedTable(
  'erc20_holder_counts',
  {
    token: bytea('token').notNull(),
    chainId: chainId(),
    transfers: int8('transfers').notNull(),
    /** Accounts whose transfers have a positive sum. */
    holders: int8('holders').notNull(),
    /** Base units minted minus burned. */
    supply: numeric('supply').notNull(),
    /** Newest block with a transfer; -1: none. */
    topBlock: integer('top_block').notNull(),
    /** Transfers were only added above and removed from the top: the minutes are complete. */
    isExact: boolean('is_exact').notNull(),
    /** `balanceOf` reads compared with sums of transfers, and those that differed. */
    readings: integer('readings').notNull().default(0),
    contradictions: integer('contradictions').notNull().default(0),
    begunAt: moment('begun_at').notNull().defaultNow(),
  },
  { writes: 'counter', placement: distributedBy('token', 'token'), key: ['token', 'chainId'] },
);

/** By minute of block time and class. No row: no change. */
export const erc20HolderMinutes = storedTable(
  'erc20_holder_minutes',
  {
    token: bytea('token').notNull(),
    chainId: chainId(),
    minute: moment('minute').notNull(),
    /** Index of `HOLDER_CLASSES`. */
    class: smallint('class').notNull(),
    came: integer('came').notNull(),
    gone: integer('gone').notNull(),
    airdropped: integer('airdropped').notNull(),
    swapped: integer('swapped').notNull(),
  },
  { writes: 'counter', placement: distributedBy('token', 'token'), key: ['token', 'chainId', 'minute', 'class'] },
);
