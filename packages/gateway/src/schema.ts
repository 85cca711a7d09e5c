/** Tables that the gateways of all API processes share. On Citus, local tables of the coordinator. */
import { bytea } from '@chainstead/db/column-types';
import { bigint, date, index, integer, jsonb, pgTable, primaryKey, text, timestamp } from 'drizzle-orm/pg-core';

/** The highest block of a chain that any process has used in a response: no later response may be older. */
export const gatewayHeads = pgTable('gateway_heads', {
  chainId: bigint('chain_id', { mode: 'number' }).primaryKey(),
  head: bigint('head', { mode: 'number' }).notNull(),
  /** Null if the chain or its upstreams have no finality. */
  finalized: bigint('finalized', { mode: 'number' }),
  updatedAt: timestamp('updated_at', { withTimezone: true }).notNull().defaultNow(),
});

/**
 * Responses that can't change any more, for all processes and across restarts. Redis replaces this table if configured.
 */
export const gatewayAnswers = pgTable(
  'gateway_answers',
  {
    chainId: bigint('chain_id', { mode: 'number' }).notNull(),
    /** SHA-256 of method and parameters in canonical form. */
    callHash: bytea('call_hash').notNull(),
    /** The result as JSON text from the node. */
    result: bytea('result').notNull(),
    storedAt: timestamp('stored_at', { withTimezone: true }).notNull().defaultNow(),
  },
  (table) => [
    primaryKey({ columns: [table.chainId, table.callHash] }),
    index('gateway_answers_by_age').on(table.storedAt),
  ],
);

/**
 * Filters of clients (`eth_newFilter` …), shared so that any process can serve them. Deleted five minutes after the
 * last poll.
 */
export const gatewayFilters = pgTable(
  'gateway_filters',
  {
    id: text('id').notNull(),
    /** Principal's id: other principals can't find the filter. */
    keyId: text('key_id').notNull(),
    chainId: bigint('chain_id', { mode: 'number' }).notNull(),
    /** `logs`, `blocks` or `pending`. */
    kind: text('kind').notNull(),
    /** The original log filter; for `pending`, the upstream's filter. */
    subject: jsonb('subject').notNull(),
    /** The newest blocks reported to the client, as `[number, hash]`, oldest first. */
    reported: jsonb('reported').notNull(),
    /** Incremented with each change: of two concurrent polls, only one reports. */
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
    /** Principal's id, never the key. */
    keyId: text('key_id').notNull(),
    day: date('day').notNull(),
    chainId: bigint('chain_id', { mode: 'number' }).notNull(),
    method: text('method').notNull(),
    calls: bigint('calls', { mode: 'number' }).notNull(),
    /** Calls that returned an error. */
    errors: bigint('errors', { mode: 'number' }).notNull(),
    /** Calls served without an upstream. */
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
    /** Start of the hour. */
    hour: timestamp('hour', { withTimezone: true }).notNull(),
    chainId: bigint('chain_id', { mode: 'number' }).notNull(),
    method: text('method').notNull(),
    calls: bigint('calls', { mode: 'number' }).notNull(),
    /** Calls that returned an error. */
    errors: bigint('errors', { mode: 'number' }).notNull(),
    /** Calls served without an upstream. */
    cached: bigint('cached', { mode: 'number' }).notNull(),
    /** Uncached calls by duration, in the buckets of usage/call-times.ts. */
    latency: bigint('latency', { mode: 'number' }).array().notNull(),
  },
  (table) => [primaryKey({ columns: [table.hour, table.chainId, table.method] })],
);
