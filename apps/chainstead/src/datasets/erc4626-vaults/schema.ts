/** A row for the owner, and for another receiver. Hash and time of its block are in `blocks`. */
import { address, hash, int8Text, logPlace, uint256 } from '@chainstead/db/column-types';
import { distributedBy, LOG_PLACE, storedTable } from '@chainstead/db/table-storage';
import { boolean } from 'drizzle-orm/pg-core';

// Columns of fixed width first: nothing is lost to alignment.
export const erc4626Vaults = storedTable(
  'erc4626_vaults',
  {
    /** First bytes of `account` (`addressKey`); distribution column on Citus. */
    accountKey: int8Text('account_key').notNull(),
    ...logPlace(),
    /** The receiver's row of a withdrawal: two accounts may share an `account_key`. */
    isReceiver: boolean('is_receiver').notNull(),
    /** False: a withdrawal. */
    isDeposit: boolean('is_deposit').notNull(),
    account: address('account').notNull(),
    vault: address('vault').notNull(),
    sender: address('sender').notNull(),
    owner: address('owner').notNull(),
    /** Receiver of the assets; for a deposit its owner, who gets the shares. */
    receiver: address('receiver').notNull(),
    assets: uint256('assets').notNull(),
    shares: uint256('shares').notNull(),
    transactionHash: hash('transaction_hash').notNull(),
  },
  {
    writes: 'append',
    placement: distributedBy('account', 'account_key'),
    isPartitioned: true,
    key: ['accountKey', ...LOG_PLACE, 'isReceiver'],
  },
);

export type Erc4626VaultsRow = Readonly<typeof erc4626Vaults.$inferSelect>;
