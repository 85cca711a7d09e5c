/**
 * Deposits and withdrawals of ERC-4626 vaults, one row for each account that an event is of: its owner, and the receiver of a withdrawal where that
 * is another one. Hash and time of a row's block are in `blocks`.
 */
import { blockRangeIndex } from '@chainstead/db/block-range-index';
import { address, hash, int8Text, uint256 } from '@chainstead/db/column-types';
import { declareStorage, distributedBy } from '@chainstead/db/table-storage';
import { bigint, boolean, integer, pgTable, primaryKey } from 'drizzle-orm/pg-core';

// Columns of fixed width come first: nothing is lost to alignment.
export const erc4626Vaults = pgTable(
  'erc4626_vaults',
  {
    /** First bytes of `account` (`addressKey`), and the distribution column on Citus. */
    accountKey: int8Text('account_key').notNull(),
    chainId: bigint('chain_id', { mode: 'number' }).notNull(),
    blockNumber: integer('block_number').notNull(),
    transactionIndex: integer('transaction_index').notNull(),
    logIndex: integer('log_index').notNull(),
    /** Whether it is the receiver's row of a withdrawal to another account: two accounts may share an `account_key`. */
    isReceiver: boolean('is_receiver').notNull(),
    /** A withdrawal where it is false. */
    isDeposit: boolean('is_deposit').notNull(),
    account: address('account').notNull(),
    vault: address('vault').notNull(),
    sender: address('sender').notNull(),
    owner: address('owner').notNull(),
    /** Receiver of the assets; for a deposit its owner, who receives the shares. */
    receiver: address('receiver').notNull(),
    assets: uint256('assets').notNull(),
    shares: uint256('shares').notNull(),
    transactionHash: hash('transaction_hash').notNull(),
  },
  (table) => [
    primaryKey({
      columns: [
        table.accountKey,
        table.chainId,
        table.blockNumber,
        table.transactionIndex,
        table.logIndex,
        table.isReceiver,
      ],
    }),
    blockRangeIndex('erc4626_vaults', table, 'int4'),
  ],
);

declareStorage(erc4626Vaults, {
  writes: 'append',
  placement: distributedBy('account', 'account_key'),
  isPartitioned: true,
});

/** One row of the table. Hexadecimal text is lower case. */
export type Erc4626VaultsRow = Readonly<typeof erc4626Vaults.$inferSelect>;
