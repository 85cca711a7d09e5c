import { sql } from 'drizzle-orm';
import { type AnyPgColumn, type IndexBuilder, index, integer, text, timestamp } from 'drizzle-orm/pg-core';

/**
 * Returns the columns that make the rows of a table due work. The table's schema defines its own `status`.
 * @param prefix of the column names, for tables that also store other data
 */
export function dueColumns<Prefix extends string>(prefix: Prefix) {
  return {
    /** Time of the next attempt; null: none is planned, or the row is claimed. */
    dueAt: timestamp(`${prefix}due_at`, { withTimezone: true }),
    /** Number of claims since the last success. */
    attempts: integer(`${prefix}attempts`).notNull().default(0),
    /** End of the holder's lease; null: the row is not claimed. */
    leaseUntil: timestamp(`${prefix}lease_until`, { withTimezone: true }),
    /** Name of the claim that holds the row: machine, process, number. */
    holder: text(`${prefix}holder`),
    /** Error of the last attempt; null after success. */
    errorCode: text(`${prefix}error_code`),
    errorMessage: text(`${prefix}error_message`),
  };
}

/**
 * Returns the index by which rows of a table with {@link dueColumns} are claimed: the rows of each chain by due time.
 * @param isOpen SQL: the condition `isOpen` of the `DueTable`. Default: rows that have a due time or are claimed
 */
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
