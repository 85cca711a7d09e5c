/** One row per event, and the newest approval per token and spender of requested wallets. */
import { blockRangeIndex } from '@chainstead/db/block-range-index';
import { address, bytea, hash, int8Text, uint256 } from '@chainstead/db/column-types';
import { declareStorage, distributedBy } from '@chainstead/db/table-storage';
import { bigint, index, integer, pgTable, primaryKey } from 'drizzle-orm/pg-core';

export const erc20Approvals = pgTable(
  'erc20_approvals',
  {
    /** `addressKey` of `owner`; distribution column on Citus. Owners may share a value. */
    ownerKey: int8Text('owner_key').notNull(),
    chainId: bigint('chain_id', { mode: 'number' }).notNull(),
    blockNumber: integer('block_number').notNull(),
    transactionIndex: integer('transaction_index').notNull(),
    /** Makes the key unique among owners that share an `owner_key`. */
    logIndex: integer('log_index').notNull(),
    owner: address('owner').notNull(),
    token: address('token').notNull(),
    spender: address('spender').notNull(),
    /** Base units; 0 revokes the approval. */
    value: uint256('value').notNull(),
    transactionHash: hash('transaction_hash').notNull(),
  },
  (table) => [
    primaryKey({
      columns: [table.ownerKey, table.chainId, table.blockNumber, table.transactionIndex, table.logIndex],
    }),
    blockRangeIndex('erc20_approvals', table, 'int4'),
  ],
);

declareStorage(erc20Approvals, {
  writes: 'append',
  placement: distributedBy('account', 'owner_key'),
  isPartitioned: true,
});

export type Erc20ApprovalRow = Readonly<typeof erc20Approvals.$inferSelect>;

/** The newest approval per token and spender of requested wallets. */
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
    // In page order; revoked approvals lie in between.
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

declareStorage(erc20WalletApprovals, { writes: 'counter', placement: distributedBy('wallet', 'wallet') });
