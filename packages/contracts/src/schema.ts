/** Contracts that the operator added. Their tables are in the schema `contracts`. On Citus a local table of the coordinator. */
import { bigint, jsonb, pgTable, primaryKey, text, timestamp, uuid } from 'drizzle-orm/pg-core';

export const contractDefinitions = pgTable(
  'contract_definitions',
  {
    name: text('name').notNull(),
    chainId: bigint('chain_id', { mode: 'number' }).notNull(),
    /** Lower case. */
    addresses: text('addresses').array().notNull(),
    /** First wanted block; null: the first one of the chain's history. */
    firstBlock: bigint('first_block', { mode: 'number' }),
    /** Events with their names in paths and SQL, and their items of the ABI. */
    events: jsonb('events').notNull(),
    /** Event whose parameter is an address whose events are stored; null: the addresses emit all events. */
    factory: jsonb('factory'),
    /** Event whose parameter is the implementation of the proxy that emits it; null: forms of events don't depend on it. */
    upgrades: jsonb('upgrades'),
    /** Reason why nothing more is stored; null: the contract is indexed. */
    suspendedReason: text('suspended_reason'),
    /** Another one after each change. */
    revision: uuid('revision').notNull().defaultRandom(),
    createdAt: timestamp('created_at', { withTimezone: true }).notNull().defaultNow(),
  },
  (table) => [primaryKey({ columns: [table.name, table.chainId] })],
);
