/**
 * Transactions with what came of them, one row each; and which accounts took part in which, one row for each account. A wallet's page is one range
 * of the second, and then its rows of the first by their keys.
 *
 * Both are partitioned by range of (chain_id, block_number), which drizzle has no words for: the migration says it, and the sync engine makes the
 * partitions. Hash and time of a row's block are in `blocks`, logs are not kept.
 */
import { blockRangeIndex } from '@chainstead/db/block-range-index';
import { address, hash, hexadecimal, int8Text, uint256 } from '@chainstead/db/column-types';
import { bigint, boolean, integer, pgTable, primaryKey, smallint } from 'drizzle-orm/pg-core';

// Columns of fixed width come first: nothing is lost to alignment.
export const transactions = pgTable(
  'transactions',
  {
    /** Of `transaction_hash` (`transactionKey`): what the key begins with, and the distribution column on Citus. Hashes may share one. */
    transactionKey: int8Text('transaction_key').notNull(),
    chainId: bigint('chain_id', { mode: 'number' }).notNull(),
    /** Of 64 bits without a sign, as are the next three (`storedUint64`). */
    nonce: int8Text('nonce').notNull(),
    /** Gas limit. */
    gas: int8Text('gas').notNull(),
    gasUsed: int8Text('gas_used').notNull(),
    cumulativeGasUsed: int8Text('cumulative_gas_used').notNull(),
    blockNumber: integer('block_number').notNull(),
    transactionIndex: integer('transaction_index').notNull(),
    /** EIP-2718; 0 for legacy. */
    type: smallint('type').notNull(),
    /** 1: succeeded, 0: failed; null before Byzantium, whose receipts don't tell. */
    status: smallint('status'),
    /** Whether `from_address` was recovered from the signature, where there is one; false: it is a node's word. */
    senderRecovered: boolean('sender_recovered').notNull(),
    transactionHash: hash('transaction_hash').notNull(),
    fromAddress: address('from_address').notNull(),
    /** Null where it creates a contract. */
    toAddress: address('to_address'),
    /** The contract that it created. */
    contractAddress: address('contract_address'),
    /** Wei. */
    value: uint256('value').notNull(),
    /** Wei that were paid for each unit of gas. */
    gasPrice: uint256('gas_price').notNull(),
    /** Wei for the chain below, on rollups that charge it beside gas. */
    l1Fee: uint256('l1_fee'),
    /** Null for a transaction without blobs. */
    blobGasUsed: uint256('blob_gas_used'),
    /** Wei. */
    blobGasPrice: uint256('blob_gas_price'),
    /** State root after it, before Byzantium. */
    root: hash('root'),
    /** The first four bytes of `input`; null where there are fewer, or it creates a contract. */
    selector: hexadecimal('selector'),
    /** Null where only the selector is kept. */
    input: hexadecimal('input'),
  },
  (table) => [
    primaryKey({
      name: 'transactions_pkey',
      columns: [table.transactionKey, table.chainId, table.blockNumber, table.transactionIndex],
    }),
    blockRangeIndex('transactions', table, 'int4'),
  ],
);

/** One transaction. Hexadecimal text is lower case. */
export type TransactionRow = Readonly<typeof transactions.$inferSelect>;

export const accountTransactions = pgTable(
  'account_transactions',
  {
    /** Of `account` (`addressKey`): what the key begins with, and the distribution column on Citus. Accounts may share one. */
    accountKey: int8Text('account_key').notNull(),
    chainId: bigint('chain_id', { mode: 'number' }).notNull(),
    /** Of the transaction: with chain and block, where its row is found. */
    transactionKey: int8Text('transaction_key').notNull(),
    blockNumber: integer('block_number').notNull(),
    transactionIndex: integer('transaction_index').notNull(),
    /** Bits of what the logs say of the account (`evidenceBits`). */
    evidence: integer('evidence').notNull().default(0),
    /**
     * Bits: {@link ROLES}; {@link NO_ROLE} and below for an account that only the logs name. In the key for two accounts of one `account_key` in one
     * transaction: no two have the same number there.
     */
    roles: smallint('roles').notNull(),
    account: address('account').notNull(),
  },
  (table) => [
    primaryKey({
      name: 'account_transactions_pkey',
      columns: [table.accountKey, table.chainId, table.blockNumber, table.transactionIndex, table.roles],
    }),
    blockRangeIndex('account_transactions', table, 'int4'),
  ],
);

/** One account's part in a transaction. */
export type AccountTransactionRow = Readonly<typeof accountTransactions.$inferSelect>;

/** What an account has to do with a transaction: bits of `roles`. */
export const ROLES = { sender: 1, receiver: 2, created: 4 } as const;
/** Of an account that has none of them, and of which the logs say something: no list of transactions shows it there. */
export const NO_ROLE = 0;
/** SQL that holds of accounts with a role. */
export const HAS_ROLE = `roles > ${NO_ROLE}`;
