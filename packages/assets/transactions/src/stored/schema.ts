/** A wallet's page is a range of the second table, and lookups in the first. */
import { address, chainId, hash, hexadecimal, int8Text, uint256 } from '@chainstead/db/column-types';
import { distributedBy, storedTable } from '@chainstead/db/table-storage';
import { boolean, integer, smallint } from 'drizzle-orm/pg-core';

export const transactions = storedTable(
  'transactions',
  {
    /** `transactionKey`; distribution column on Citus. Hashes may share one. */
    transactionKey: int8Text('transaction_key').notNull(),
    chainId: chainId(),
    /** Unsigned 64 bits, as are the next three (`storedUint64`). */
    nonce: int8Text('nonce').notNull(),
    gas: int8Text('gas').notNull(),
    gasUsed: int8Text('gas_used').notNull(),
    cumulativeGasUsed: int8Text('cumulative_gas_used').notNull(),
    blockNumber: integer('block_number').notNull(),
    transactionIndex: integer('transaction_index').notNull(),
    type: smallint('type').notNull(),
    /** 1: succeeded, 0: failed; null before Byzantium. */
    status: smallint('status'),
    /** From the signature, if there is one; false: a node's unverified value. */
    senderRecovered: boolean('sender_recovered').notNull(),
    transactionHash: hash('transaction_hash').notNull(),
    fromAddress: address('from_address').notNull(),
    /** Null: creates a contract. */
    toAddress: address('to_address'),
    contractAddress: address('contract_address'),
    /** Wei. */
    value: uint256('value').notNull(),
    /** Wei per gas; 0: no native tokens are paid for it. */
    gasPrice: uint256('gas_price').notNull(),
    /** Wei apart from used gas: for the chain below, the operator, or unused gas (`feeParts`). */
    l1Fee: uint256('l1_fee'),
    /** Null: no blobs. */
    blobGasUsed: uint256('blob_gas_used'),
    /** Wei. */
    blobGasPrice: uint256('blob_gas_price'),
    /** Before Byzantium. */
    root: hash('root'),
    /** First four bytes; null: fewer, or a contract creation. */
    selector: hexadecimal('selector'),
    /** Null: only the selector is stored. */
    input: hexadecimal('input'),
  },
  {
    writes: 'append',
    placement: distributedBy('transaction', 'transaction_key'),
    isPartitioned: true,
    key: ['transactionKey', 'chainId', 'blockNumber', 'transactionIndex'],
  },
);

export type TransactionRow = Readonly<typeof transactions.$inferSelect>;

export const accountTransactions = storedTable(
  'account_transactions',
  {
    /** `addressKey`; distribution column on Citus. Accounts may share one. */
    accountKey: int8Text('account_key').notNull(),
    chainId: chainId(),
    transactionKey: int8Text('transaction_key').notNull(),
    blockNumber: integer('block_number').notNull(),
    transactionIndex: integer('transaction_index').notNull(),
    evidence: integer('evidence').notNull().default(0),
    /** {@link ROLES}; {@link NO_ROLE} and below: only in logs, distinct if accounts share a key. */
    roles: smallint('roles').notNull(),
    account: address('account').notNull(),
  },
  {
    writes: 'append',
    placement: distributedBy('account', 'account_key'),
    isPartitioned: true,
    key: ['accountKey', 'chainId', 'blockNumber', 'transactionIndex', 'roles'],
  },
);

export type AccountTransactionRow = Readonly<typeof accountTransactions.$inferSelect>;

/** `sponsored`: a sender whose fee another account pays. */
export const ROLES = { sender: 1, receiver: 2, created: 4, sponsored: 8 } as const;
/** For evidence without a role: transaction lists don't show it. */
export const NO_ROLE = 0;
