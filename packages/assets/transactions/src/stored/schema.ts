/**
 * Transactions with their results, one row each; and the accounts that took part in them, one row per account. A
 * wallet's page is one range of the second table, and then lookups by key in the first.
 *
 * Both are partitioned by range of (chain_id, block_number), as `declareStorage` defines: the sync engine creates the
 * partitions. Hash and time of a row's block are in `blocks`; logs are not stored here.
 */
import { blockRangeIndex } from '@chainstead/db/block-range-index';
import { address, hash, hexadecimal, int8Text, uint256 } from '@chainstead/db/column-types';
import { declareStorage, distributedBy } from '@chainstead/db/table-storage';
import { bigint, boolean, integer, pgTable, primaryKey, smallint } from 'drizzle-orm/pg-core';

// Columns of fixed width come first: no bytes are lost to alignment.
export const transactions = pgTable(
  'transactions',
  {
    /**
     * The `transactionKey` of `transaction_hash`: first column of the key, and distribution column on Citus. Hashes may
     * share one.
     */
    transactionKey: int8Text('transaction_key').notNull(),
    chainId: bigint('chain_id', { mode: 'number' }).notNull(),
    /** Unsigned 64 bits, like the next three (`storedUint64`). */
    nonce: int8Text('nonce').notNull(),
    /** Gas limit. */
    gas: int8Text('gas').notNull(),
    gasUsed: int8Text('gas_used').notNull(),
    cumulativeGasUsed: int8Text('cumulative_gas_used').notNull(),
    blockNumber: integer('block_number').notNull(),
    transactionIndex: integer('transaction_index').notNull(),
    /** EIP-2718; 0 for legacy. */
    type: smallint('type').notNull(),
    /** 1: succeeded, 0: failed; null before Byzantium, whose receipts have no status. */
    status: smallint('status'),
    /**
     * Whether `from_address` was recovered from the signature, if there is one; false: it is a node's unverified value.
     */
    senderRecovered: boolean('sender_recovered').notNull(),
    transactionHash: hash('transaction_hash').notNull(),
    fromAddress: address('from_address').notNull(),
    /** Null if it creates a contract. */
    toAddress: address('to_address'),
    /** The contract that it created. */
    contractAddress: address('contract_address'),
    /** Wei. */
    value: uint256('value').notNull(),
    /** Wei paid per unit of gas. */
    gasPrice: uint256('gas_price').notNull(),
    /** Wei for the chain below, on rollups that charge it in addition to gas. */
    l1Fee: uint256('l1_fee'),
    /** Null for a transaction without blobs. */
    blobGasUsed: uint256('blob_gas_used'),
    /** Wei. */
    blobGasPrice: uint256('blob_gas_price'),
    /** State root after it, before Byzantium. */
    root: hash('root'),
    /** The first four bytes of `input`; null if there are fewer, or it creates a contract. */
    selector: hexadecimal('selector'),
    /** Null if only the selector is stored. */
    input: hexadecimal('input'),
  },
  (table) => [
    primaryKey({
      columns: [table.transactionKey, table.chainId, table.blockNumber, table.transactionIndex],
    }),
    blockRangeIndex('transactions', table, 'int4'),
  ],
);

declareStorage(transactions, {
  writes: 'append',
  placement: distributedBy('transaction', 'transaction_key'),
  isPartitioned: true,
});

/** One transaction. Hexadecimal text is lower case. */
export type TransactionRow = Readonly<typeof transactions.$inferSelect>;

export const accountTransactions = pgTable(
  'account_transactions',
  {
    /**
     * The `addressKey` of `account`: first column of the key, and distribution column on Citus. Accounts may share one.
     */
    accountKey: int8Text('account_key').notNull(),
    chainId: bigint('chain_id', { mode: 'number' }).notNull(),
    /** The transaction's key: with chain and block, it locates the row. */
    transactionKey: int8Text('transaction_key').notNull(),
    blockNumber: integer('block_number').notNull(),
    transactionIndex: integer('transaction_index').notNull(),
    /** Bits for the evidence about the account in the logs (`evidenceBits`). */
    evidence: integer('evidence').notNull().default(0),
    /**
     * Bits: {@link ROLES}; {@link NO_ROLE} and below for an account that appears only in logs. In the key for two
     * accounts with one `account_key` in one transaction: their numbers always differ.
     */
    roles: smallint('roles').notNull(),
    account: address('account').notNull(),
  },
  (table) => [
    primaryKey({
      columns: [table.accountKey, table.chainId, table.blockNumber, table.transactionIndex, table.roles],
    }),
    blockRangeIndex('account_transactions', table, 'int4'),
  ],
);

declareStorage(accountTransactions, {
  writes: 'append',
  placement: distributedBy('account', 'account_key'),
  isPartitioned: true,
});

/** One account's part in a transaction. */
export type AccountTransactionRow = Readonly<typeof accountTransactions.$inferSelect>;

/** An account's roles in a transaction: bits of `roles`. */
export const ROLES = { sender: 1, receiver: 2, created: 4 } as const;
/** For an account without a role but with evidence in the logs: transaction lists don't show it. */
export const NO_ROLE = 0;
