/**
 * ERC-20 approvals, one row an event, and the newest of each token and spender for wallets that were asked about.
 *
 * Partitioned by range of (chain_id, block_number), which drizzle has no words for: the migration says it, and the sync engine makes the
 * partitions. Hash and time of a row's block are in `blocks`.
 */
import { blockRangeIndex } from '@chainstead/db/block-range-index';
import { address, bytea, hash, int8Text, uint256 } from '@chainstead/db/column-types';
import { bigint, index, integer, pgTable, primaryKey } from 'drizzle-orm/pg-core';

// Columns of fixed width come first: nothing is lost to alignment.
export const erc20Approvals = pgTable(
  'erc20_approvals',
  {
    /** Of `owner` (`addressKey`): what the key begins with, and the distribution column on Citus. Owners may share one. */
    ownerKey: int8Text('owner_key').notNull(),
    chainId: bigint('chain_id', { mode: 'number' }).notNull(),
    blockNumber: integer('block_number').notNull(),
    transactionIndex: integer('transaction_index').notNull(),
    /** A log has one owner, so the key is exact for two owners of one `owner_key` too. */
    logIndex: integer('log_index').notNull(),
    owner: address('owner').notNull(),
    token: address('token').notNull(),
    spender: address('spender').notNull(),
    /** Base units that the spender may move from now on; 0 takes an approval back. */
    value: uint256('value').notNull(),
    transactionHash: hash('transaction_hash').notNull(),
  },
  (table) => [
    primaryKey({
      name: 'erc20_approvals_pkey',
      columns: [table.ownerKey, table.chainId, table.blockNumber, table.transactionIndex, table.logIndex],
    }),
    blockRangeIndex('erc20_approvals', table, 'int4'),
  ],
);

/** One Approval event. Hexadecimal text is lower case. */
export type Erc20ApprovalRow = Readonly<typeof erc20Approvals.$inferSelect>;

/** Of wallets that somebody asked about (`erc20-wallet-approvals` in `kept_subjects`): the newest approval of each token and spender. */
export const erc20WalletApprovals = pgTable(
  'erc20_wallet_approvals',
  {
    wallet: bytea('wallet').notNull(),
    chainId: bigint('chain_id', { mode: 'number' }).notNull(),
    token: bytea('token').notNull(),
    spender: bytea('spender').notNull(),
    value: uint256('value').notNull(),
    blockNumber: integer('block_number').notNull(),
    transactionIndex: integer('transaction_index').notNull(),
    logIndex: integer('log_index').notNull(),
    transactionHash: bytea('transaction_hash').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.wallet, table.chainId, table.token, table.spender] }),
    // Newest first, as pages are; approvals that were taken back lie between them.
    index('erc20_wallet_approvals_by_block').on(
      table.wallet,
      table.chainId,
      table.blockNumber,
      table.transactionIndex,
      table.logIndex,
      table.token,
      table.spender,
    ),
  ],
);
