/** Keys of the API and secrets of the server. Local tables on Citus. */
import { bytea } from '@chainstead/db/column-types';
import { bigint, doublePrecision, pgTable, text, timestamp } from 'drizzle-orm/pg-core';

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
});

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
