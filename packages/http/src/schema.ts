/** Keys of the API and secrets of the server. Local tables on Citus. */
import { bytea } from '@chainstead/db/column-types';
import {
  bigint,
  boolean,
  date,
  doublePrecision,
  index,
  integer,
  jsonb,
  pgTable,
  primaryKey,
  text,
  timestamp,
} from 'drizzle-orm/pg-core';

/** Keys made by `chainstead keys create`, as SHA-256 of the key: the key itself is shown once and stored nowhere. */
export const apiKeys = pgTable('api_keys', {
  keyHash: bytea('key_hash').primaryKey(),
  /** First characters of the key, to recognise it in lists. */
  prefix: text('prefix').notNull(),
  name: text('name').notNull(),
  /** What it may be used for (`key-scope.ts`). */
  scopes: text('scopes').array().notNull().default(['data', 'rpc', 'streams', 'admin']),
  createdAt: timestamp('created_at', { withTimezone: true }).notNull().defaultNow(),
  revokedAt: timestamp('revoked_at', { withTimezone: true }),
  /** Requests a second to the API; null: what `RATE_LIMIT` says. */
  rateLimit: integer('rate_limit'),
  /** Made by the first start, for the console alone: such a key does not close a server that is open to this machine. */
  byStart: boolean('by_start').notNull().default(false),
});

/** What was changed by people: who, what, when, from where. Written in the transaction of the change; rows are never changed or deleted. */
export const auditLog = pgTable(
  'audit_log',
  {
    /** Microseconds since 1970 and random digits: ascends with the time. */
    id: text('id').primaryKey(),
    at: timestamp('at', { withTimezone: true }).notNull().defaultNow(),
    /** api, console, command or start. */
    door: text('door').notNull(),
    /** Id of a key (its first characters, or `config:<n>`); of a command, user and machine. */
    actor: text('actor').notNull(),
    /** Name of the key. */
    actorName: text('actor_name'),
    /** Such as `key.create`. */
    action: text('action').notNull(),
    /** What it was done to: the id of a key, of a session … */
    target: text('target').notNull(),
    details: jsonb('details').notNull(),
    /** Null for commands. */
    address: text('address'),
    requestId: text('request_id'),
  },
  (table) => [index('audit_log_by_door').on(table.door, table.id)],
);

/** Requests by key, day (UTC) and route of the API. Calls of the JSON-RPC gateway: `gateway_usage`. */
export const apiUsage = pgTable(
  'api_usage',
  {
    /** Principal's id, `open` without keys: never the key. */
    keyId: text('key_id').notNull(),
    day: date('day').notNull(),
    method: text('method').notNull(),
    /** The route's pattern, such as `/api/v2.2/:address/erc20`. */
    route: text('route').notNull(),
    requests: bigint('requests', { mode: 'number' }).notNull(),
    /** Of them, answered with 400 to 499. */
    refused: bigint('refused', { mode: 'number' }).notNull(),
    /** Of them, answered with 500 and above. */
    failed: bigint('failed', { mode: 'number' }).notNull(),
  },
  (table) => [primaryKey({ columns: [table.keyId, table.day, table.method, table.route] })],
);

/** Secrets that all replicas share: `cursor` (32 random bytes, made at the first start). */
export const serverSecrets = pgTable('server_secrets', {
  name: text('name').primaryKey(),
  value: bytea('value').notNull(),
});

/**
 * What keys spend of their limits, while all processes count them together in Postgres (`limits/`). UNLOGGED: windows are
 * seconds long. Rows that are over go within seconds. A process that counts has a row, too.
 */
export const rateSpending = pgTable('rate_spending', {
  /** Limit and principal's id, no key; or `process:` and a random id. */
  bucket: text('bucket').primaryKey(),
  /** The newest slot that `spent` knows, counted from the Unix epoch. */
  slot: bigint('slot', { mode: 'number' }).notNull(),
  /** A ring: the place of a slot is its number modulo 16. */
  spent: doublePrecision('spent').array().notNull(),
  expiresAt: timestamp('expires_at', { withTimezone: true }).notNull(),
});
