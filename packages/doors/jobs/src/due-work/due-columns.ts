import { sql } from 'drizzle-orm';
import { type AnyPgColumn, type IndexBuilder, index, integer, text, timestamp } from 'drizzle-orm/pg-core';

/** Columns that make the rows of a table due work. The table's schema defines its own `status`. */
export function dueColumns<Prefix extends string>(prefix: Prefix) {
  return {
    /** Null: no attempt is planned, or the row is claimed. */
    dueAt: timestamp(`${prefix}due_at`, { withTimezone: true }),
    attempts: integer(`${prefix}attempts`).notNull().default(0),
    /** Null: the row is not claimed. */
    leaseUntil: timestamp(`${prefix}lease_until`, { withTimezone: true }),
    holder: text(`${prefix}holder`),
    errorCode: text(`${prefix}error_code`),
    errorMessage: text(`${prefix}error_message`),
  };
}

/** Index of the rows by due time. `isOpen`: that of the `DueTable`. Default: due or claimed rows. */
export function dueIndex(
  name: string,
  { chainId, leaseUntil, dueAt }: Readonly<Record<'chainId' | 'leaseUntil' | 'dueAt', AnyPgColumn>>,
  isOpen?: string,
): IndexBuilder {
  const moment = `coalesce(${leaseUntil.name}, ${dueAt.name})`;
  return index(name)
    .on(chainId, sql.raw(moment))
    .where(sql.raw(isOpen ?? `${moment} IS NOT NULL`));
}
