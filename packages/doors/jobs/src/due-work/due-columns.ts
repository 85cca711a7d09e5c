import { sql } from 'drizzle-orm';
import { type AnyPgColumn, type IndexBuilder, index, integer, text, timestamp } from 'drizzle-orm/pg-core';

export function dueColumns<Prefix extends string>(prefix: Prefix) {
  return {
    /** Null: no attempt planned, or claimed. */
    dueAt: timestamp(`${prefix}due_at`, { withTimezone: true }),
    attempts: integer(`${prefix}attempts`).notNull().default(0),
    /** Null: not claimed. */
    leaseUntil: timestamp(`${prefix}lease_until`, { withTimezone: true }),
    holder: text(`${prefix}holder`),
    errorCode: text(`${prefix}error_code`),
    errorMessage: text(`${prefix}error_message`),
  };
}

/** `isOpen`: that of the `DueTable`. @default due or claimed rows */
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
