/** Sessions of the console. Local tables on Citus. */
import { bytea } from '@chainstead/db/column-types';
import { index, pgTable, text, timestamp } from 'drizzle-orm/pg-core';

/** Current and past sessions of the console. The browser's secret is stored only as its SHA-256. */
export const consoleSessions = pgTable(
  'console_sessions',
  {
    idHash: bytea('id_hash').primaryKey(),
    /** SHA-256 of the key: the session ends with the key, and with its scope `admin`. */
    keyHash: bytea('key_hash').notNull(),
    /** Principal's id and name, for display. */
    keyId: text('key_id').notNull(),
    keyName: text('key_name').notNull(),
    createdAt: timestamp('created_at', { withTimezone: true }).notNull().defaultNow(),
    /** Time of the last request, to the minute. */
    seenAt: timestamp('seen_at', { withTimezone: true }).notNull().defaultNow(),
    /** However much it is used. */
    expiresAt: timestamp('expires_at', { withTimezone: true }).notNull(),
    revokedAt: timestamp('revoked_at', { withTimezone: true }),
    address: text('address').notNull(),
    userAgent: text('user_agent').notNull(),
  },
  (table) => [index('console_sessions_by_end').on(table.expiresAt)],
);
