/** API keys and server secrets. Local tables on Citus. */
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

/** Keys created by `chainstead keys create`, as SHA-256: the key itself is shown once and not stored. */
export const apiKeys = pgTable('api_keys', {
  keyHash: bytea('key_hash').primaryKey(),
  /** First characters of the key, to recognize it in lists. */
  prefix: text('prefix').notNull(),
  name: text('name').notNull(),
  /** Its scopes (`key-scope.ts`). */
  scopes: text('scopes').array().notNull().default(['data', 'rpc', 'streams', 'admin']),
  createdAt: timestamp('created_at', { withTimezone: true }).notNull().defaultNow(),
  revokedAt: timestamp('revoked_at', { withTimezone: true }),
  /** API requests per second; null: the `RATE_LIMIT` setting. */
  rateLimit: integer('rate_limit'),
  /** Created at the first start for the console only: such a key does not close a loopback-only server. */
  byStart: boolean('by_start').notNull().default(false),
});

/** The audit log of changes. Written in the transaction of the change; rows are never changed or deleted. */
export const auditLog = pgTable(
  'audit_log',
  {
    /** Microseconds since 1970 and random digits: ascends with time. */
    id: text('id').primaryKey(),
    at: timestamp('at', { withTimezone: true }).notNull().defaultNow(),
    /** api, console, command or start. */
    door: text('door').notNull(),
    /** Id of a key (its first characters, or `config:<n>`); for a command, user and machine. */
    actor: text('actor').notNull(),
    /** Name of the key. */
    actorName: text('actor_name'),
    /** Such as `key.create`. */
    action: text('action').notNull(),
    /** Target of the action: the id of a key, of a session … */
    target: text('target').notNull(),
    details: jsonb('details').notNull(),
    /** Null for commands. */
    address: text('address'),
    requestId: text('request_id'),
  },
  (table) => [index('audit_log_by_door').on(table.door, table.id)],
);

/** API requests by key, day (UTC) and route. For calls of the JSON-RPC gateway see `gateway_usage`. */
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
    /** Responses with 400 to 499 among them. */
    refused: bigint('refused', { mode: 'number' }).notNull(),
    /** Responses with 500 and above among them. */
    failed: bigint('failed', { mode: 'number' }).notNull(),
  },
  (table) => [primaryKey({ columns: [table.keyId, table.day, table.method, table.route] })],
);

/** Secrets shared by all replicas: `cursor` (32 random bytes, created at the first start). */
export const serverSecrets = pgTable('server_secrets', {
  name: text('name').primaryKey(),
  value: bytea('value').notNull(),
});

/**
 * Spending of keys from shared limits (`limits/`). UNLOGGED: windows last seconds. Expired rows are deleted within
 * seconds. Each counting process also has a row.
 */
export const rateSpending = pgTable('rate_limit_usage', {
  /** Limit and principal's id, not the key; or `process:` and a random id. */
  bucket: text('bucket').primaryKey(),
  /** The newest slot in `spent`, counted from the Unix epoch. */
  slot: bigint('slot', { mode: 'number' }).notNull(),
  /** A ring: the index of a slot is its number modulo 16. */
  spent: doublePrecision('spent').array().notNull(),
  expiresAt: timestamp('expires_at', { withTimezone: true }).notNull(),
});
