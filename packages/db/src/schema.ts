import { bigint, integer, pgTable, primaryKey, text, timestamp, uuid } from 'drizzle-orm/pg-core';

/** What transactions wait for each other by: a lock is its row, locked FOR UPDATE. Rows are made when they are first asked for. */
export const locks = pgTable('locks', {
  name: text('name').primaryKey(),
});

/** What the processes at work have in hand that might end them, for the case that it does. */
export const processWork = pgTable('process_work', {
  process: uuid('process').primaryKey(),
  machine: text('machine').notNull(),
  pid: integer('pid').notNull(),
  /** Kind and key of each. */
  items: text('items').array().notNull(),
  /** The one that is being tried alone. */
  alone: text('alone'),
  enteredAt: timestamp('entered_at', { withTimezone: true }).notNull().defaultNow(),
  aliveUntil: timestamp('alive_until', { withTimezone: true }).notNull(),
});

/** What a process had in hand when it died: tried alone from then on, and set aside after the third time. */
export const suspectWork = pgTable('suspect_work', {
  /** Kind and key. */
  name: text('name').primaryKey(),
  crashes: integer('crashes').notNull(),
  crashedAt: timestamp('crashed_at', { withTimezone: true }).notNull().defaultNow(),
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

/** How large each table was, by the hour, for a day: what its growth is told from. */
export const tableSamples = pgTable(
  'table_samples',
  {
    /** Empty: the whole database. */
    tableName: text('table_name').notNull(),
    hour: timestamp('hour', { withTimezone: true }).notNull(),
    /** Within the hour. */
    sampledAt: timestamp('sampled_at', { withTimezone: true }).notNull().defaultNow(),
    /** With indexes, partitions and shards. */
    bytes: bigint('bytes', { mode: 'number' }).notNull(),
  },
  (table) => [primaryKey({ columns: [table.tableName, table.hour] })],
);
