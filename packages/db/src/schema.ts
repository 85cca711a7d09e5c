import { bigint, integer, pgTable, primaryKey, text, timestamp, uuid } from 'drizzle-orm/pg-core';

/** Locks of transactions: each is a row, locked FOR UPDATE. Rows are created at first use. */
export const transactionLocks = pgTable('transaction_locks', {
  name: text('name').primaryKey(),
});

/** Running work of processes that might crash them, recorded in case it does. */
export const processWork = pgTable('inflight_work', {
  process: uuid('process').primaryKey(),
  machine: text('machine').notNull(),
  pid: integer('pid').notNull(),
  /** Kinds and keys of the work. */
  items: text('items').array().notNull(),
  /** The suspect run alone. */
  alone: text('alone'),
  enteredAt: timestamp('entered_at', { withTimezone: true }).notNull().defaultNow(),
  aliveUntil: timestamp('alive_until', { withTimezone: true }).notNull(),
});

/** Work that was running when processes died: retried alone, and quarantined after the third crash. */
export const suspectWork = pgTable('quarantined_work', {
  /** Kind and key. */
  name: text('name').primaryKey(),
  crashes: integer('crashes').notNull(),
  crashedAt: timestamp('crashed_at', { withTimezone: true }).notNull().defaultNow(),
  /** Cause of work that was left out without a crash; null: the crashes. */
  reason: text('reason'),
});

/** Leases with their holder and expiry by the database's clock. */
export const leases = pgTable('leases', {
  name: text('name').primaryKey(),
  /** New for each holder, which identifies itself by it. */
  token: uuid('token').notNull(),
  /** Machine and process, for operators. */
  holder: text('holder').notNull(),
  /** The holder's session on the server: if it is gone, so is the lease. */
  backendPid: integer('backend_pid').notNull(),
  backendStart: timestamp('backend_start', { withTimezone: true }).notNull(),
  acquiredAt: timestamp('acquired_at', { withTimezone: true }).notNull().defaultNow(),
  expiresAt: timestamp('expires_at', { withTimezone: true }).notNull(),
});

/** Size of each table by hour, for a day: the base of its growth rate. */
export const tableSamples = pgTable(
  'table_sizes_hourly',
  {
    /** Empty: the whole database. */
    tableName: text('table_name').notNull(),
    hour: timestamp('hour', { withTimezone: true }).notNull(),
    /** Time within the hour. */
    sampledAt: timestamp('sampled_at', { withTimezone: true }).notNull().defaultNow(),
    /** With indexes, partitions and shards. */
    bytes: bigint('bytes', { mode: 'number' }).notNull(),
  },
  (table) => [primaryKey({ columns: [table.tableName, table.hour] })],
);
