import { integer, pgTable, text, timestamp, uuid } from 'drizzle-orm/pg-core';

/** What transactions wait for each other by: a lock is its row, locked FOR UPDATE. Rows are made when they are first asked for. */
export const locks = pgTable('locks', {
  name: text('name').primaryKey(),
});

/** Who leads what, until when by the database's clock. */
export const leases = pgTable('leases', {
  name: text('name').primaryKey(),
  /** New with each holder: what a holder proves itself by. */
  token: uuid('token').notNull(),
  /** Machine and process, for people. */
  holder: text('holder').notNull(),
  /** The holder's session on the server: when it is gone, so is the lease. */
  backendPid: integer('backend_pid').notNull(),
  backendStart: timestamp('backend_start', { withTimezone: true }).notNull(),
  acquiredAt: timestamp('acquired_at', { withTimezone: true }).notNull().defaultNow(),
  expiresAt: timestamp('expires_at', { withTimezone: true }).notNull(),
});
