/**
 * What the gateways of all API processes share. Local tables of the coordinator on Citus.
 */
import { bytea } from '@chainstead/db/column-types';
import { bigint, date, index, integer, jsonb, pgTable, primaryKey, text, timestamp } from 'drizzle-orm/pg-core';

/** The highest block of a chain that any process has answered from: no later answer may be older. */
export const gatewayHeads = pgTable('gateway_heads', {
  chainId: bigint('chain_id', { mode: 'number' }).primaryKey(),
  head: bigint('head', { mode: 'number' }).notNull(),
  /** Null where the chain or its upstreams know no finality. */
  finalized: bigint('finalized', { mode: 'number' }),
  updatedAt: timestamp('updated_at', { withTimezone: true }).notNull().defaultNow(),
});

/** Answers that can't change any more, for all processes and restarts. Where Redis is configured, it takes their place. */
export const gatewayAnswers = pgTable(
  'gateway_answers',
  {
    chainId: bigint('chain_id', { mode: 'number' }).notNull(),
    /** SHA-256 of method and parameters in canonical form. */
    callHash: bytea('call_hash').notNull(),
    /** The result as JSON text, as the node wrote it. */
    result: bytea('result').notNull(),
    storedAt: timestamp('stored_at', { withTimezone: true }).notNull().defaultNow(),
  },
  (table) => [
    primaryKey({ columns: [table.chainId, table.callHash] }),
    index('gateway_answers_by_age').on(table.storedAt),
  ],
);

/** Filters of clients (`eth_newFilter` …), here so that any process can answer for them. Rows that nobody asks for go after five minutes. */
export const gatewayFilters = pgTable(
  'gateway_filters',
  {
    id: text('id').notNull(),
    /** Principal's id: others don't find it. */
    keyId: text('key_id').notNull(),
    chainId: bigint('chain_id', { mode: 'number' }).notNull(),
    /** `logs`, `blocks` or `pending`. */
    kind: text('kind').notNull(),
    /** The log filter as it was given; for `pending` the upstream's filter. */
    subject: jsonb('subject').notNull(),
    /** The newest blocks that the client was told of, as `[number, hash]`, oldest first. */
    told: jsonb('told').notNull(),
    /** Raised with each change: of two polls at once one tells. */
    version: integer('version').notNull().default(0),
    polledAt: timestamp('polled_at', { withTimezone: true }).notNull().defaultNow(),
  },
  (table) => [
    primaryKey({ columns: [table.id, table.chainId] }),
    index('gateway_filters_by_key').on(table.keyId),
    index('gateway_filters_by_poll').on(table.polledAt),
  ],
);

/** Calls by key, day (UTC), chain and method. */
export const gatewayUsage = pgTable(
  'gateway_usage',
  {
    /** Principal's id: never the key. */
    keyId: text('key_id').notNull(),
    day: date('day').notNull(),
    chainId: bigint('chain_id', { mode: 'number' }).notNull(),
    method: text('method').notNull(),
    calls: bigint('calls', { mode: 'number' }).notNull(),
    /** Of them, answered with an error. */
    errors: bigint('errors', { mode: 'number' }).notNull(),
    /** Of them, answered without an upstream. */
    cached: bigint('cached', { mode: 'number' }).notNull(),
    /** Sum of the methods' weights. */
    weight: bigint('weight', { mode: 'number' }).notNull(),
    /** Response bytes. */
    bytes: bigint('bytes', { mode: 'number' }).notNull(),
  },
  (table) => [primaryKey({ columns: [table.keyId, table.day, table.chainId, table.method] })],
);

/** Calls of all keys by hour, chain and method, for a week. */
export const gatewayCalls = pgTable(
  'gateway_calls',
  {
    /** When it began. */
    hour: timestamp('hour', { withTimezone: true }).notNull(),
    chainId: bigint('chain_id', { mode: 'number' }).notNull(),
    method: text('method').notNull(),
    calls: bigint('calls', { mode: 'number' }).notNull(),
    /** Of them, answered with an error. */
    errors: bigint('errors', { mode: 'number' }).notNull(),
    /** Of them, answered without an upstream. */
    cached: bigint('cached', { mode: 'number' }).notNull(),
    /** The others by the time that they took, in the parts that usage/call-times.ts divides it into. */
    latency: bigint('latency', { mode: 'number' }).array().notNull(),
  },
  (table) => [primaryKey({ columns: [table.hour, table.chainId, table.method] })],
);
