/** Keys of the API and secrets of the server. Local tables on Citus. */
import { bytea } from '@chainstead/db/column-types';
import { pgTable, text, timestamp } from 'drizzle-orm/pg-core';

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
