/** What chains say of accounts, contracts and transactions, read because somebody asked. */
import { bytea, uint256 } from '@chainstead/db/column-types';
import { bigint, boolean, index, jsonb, pgTable, primaryKey, text, timestamp } from 'drizzle-orm/pg-core';

/**
 * Questions to a chain's state that requests left for the worker role, and their answers: kept for some minutes, so that whoever asks the same
 * meanwhile shares them.
 */
export const stateQuestions = pgTable(
  'state_questions',
  {
    chainId: bigint('chain_id', { mode: 'number' }).notNull(),
    /** Of the question's kind and content: the same question has the same key. */
    key: text('key').notNull(),
    kind: text('kind').notNull(),
    question: jsonb('question').notNull(),
    askedAt: timestamp('asked_at', { withTimezone: true }).notNull().defaultNow(),
    /** Null while it is not answered. */
    settledAt: timestamp('settled_at', { withTimezone: true }),
    /** Null where it could not be answered. */
    answer: jsonb('answer'),
    /** Why not: an error's code and text. */
    errorCode: text('error_code'),
    errorMessage: text('error_message'),
  },
  (table) => [primaryKey({ columns: [table.chainId, table.key] }), index('state_questions_by_age').on(table.askedAt)],
);

/** Balances of the chain's own coin, the newest reading of each account. */
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

/** What a transaction says of itself. Its hash commits to all of it, so nothing here ever changes. */
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
