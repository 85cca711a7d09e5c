/** Facts of accounts, contracts and transactions, read from chains on request. */
import { bytea, uint256 } from '@chainstead/db/column-types';
import { dueColumns, dueIndex } from '@chainstead/jobs/due-columns';
import { bigint, boolean, index, jsonb, pgTable, primaryKey, text, timestamp } from 'drizzle-orm/pg-core';

/**
 * Questions to a chain's state that requests queued for the worker role, and their results: stored for some minutes, so that the same
 * questions meanwhile share them.
 */
export const stateQuestions = pgTable(
  'state_questions',
  {
    chainId: bigint('chain_id', { mode: 'number' }).notNull(),
    /** Derived from the question's kind and content: the same question has the same key. */
    key: text('key').notNull(),
    kind: text('kind').notNull(),
    question: jsonb('question').notNull(),
    lastRequestedAt: timestamp('asked_at', { withTimezone: true }).notNull().defaultNow(),
    /** Null while it is not answered. */
    settledAt: timestamp('settled_at', { withTimezone: true }),
    /** Null where it could not be answered: the error says why. */
    answer: jsonb('answer'),
    ...dueColumns(''),
  },
  (table) => [
    primaryKey({ columns: [table.chainId, table.key] }),
    index('state_questions_by_age').on(table.lastRequestedAt),
    dueIndex('state_questions_due', table),
  ],
);

/** Native token balances, the newest reading of each account. */
export const nativeBalances = pgTable(
  'native_balances',
  {
    account: bytea('account').notNull(),
    chainId: bigint('chain_id', { mode: 'number' }).notNull(),
    wei: uint256('wei').notNull(),
    blockNumber: bigint('block_number', { mode: 'number' }).notNull(),
    blockHash: bytea('block_hash').notNull(),
    readAt: timestamp('read_at', { withTimezone: true }).notNull().defaultNow(),
  },
  (table) => [primaryKey({ columns: [table.account, table.chainId] })],
);

/** Whether there is a contract at an address. A delegation of EIP-7702 is none. */
export const accountCodes = pgTable(
  'account_codes',
  {
    address: bytea('address').notNull(),
    chainId: bigint('chain_id', { mode: 'number' }).notNull(),
    hasCode: boolean('has_code').notNull(),
    lookedAt: timestamp('looked_at', { withTimezone: true }).notNull().defaultNow(),
  },
  (table) => [primaryKey({ columns: [table.address, table.chainId] })],
);

/** Contents of a transaction. Its hash commits to all of it, so nothing here ever changes. */
export const transactionFacts = pgTable(
  'transaction_facts',
  {
    hash: bytea('hash').notNull(),
    chainId: bigint('chain_id', { mode: 'number' }).notNull(),
    sender: bytea('sender').notNull(),
    /** Null: it made a contract. */
    recipient: bytea('recipient'),
    /** Wei that it carried. */
    value: uint256('value').notNull(),
    /** The first four bytes of its input; null where it has fewer. */
    method: bytea('method'),
  },
  (table) => [primaryKey({ columns: [table.hash, table.chainId] })],
);
