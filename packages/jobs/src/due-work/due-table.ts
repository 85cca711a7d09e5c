/**
 * SQL statements that claim, renew, release and fail rows of due work. A row is due once
 * `coalesce(lease_until, due_at)` has passed. A claim clears `due_at`; if set during the work, the row runs again.
 */
import { ChainsteadError, errorText } from '@chainstead/core';
import { type Database, fromNowOld, rawSql, sql } from '@chainstead/db';

/** A table with {@link dueColumns} and a `chain_id`. Its SQL comes from the code, never from input. */
export interface DueTable {
  readonly name: string;
  /** Columns of the primary key. */
  readonly key: readonly string[];
  /** Prefix of the names of {@link dueColumns}. */
  readonly prefix?: string;
  /** SQL: condition of rows that can be due, as in the index of due rows. Default: all. */
  readonly isOpen?: string;
  /** SQL: condition of rows that a client waits for. They are claimed first. */
  readonly isUrgent?: string;
  /** SQL: order of claims. Default: earliest due first. */
  readonly order?: string;
  /** SQL: additional assignments of a claim. */
  readonly onClaim?: string;
  /** SQL: additional assignments of a failure. `later.moment` is the next attempt; null: none is planned. */
  readonly onFailure?: string;
  /** True if Citus distributes the rows. It can't skip locked rows across nodes, so concurrent claims wait. */
  readonly isSpread?: boolean;
}

/** Exclusive hold of one row until its lease ends. */
export interface Claim<Row> {
  readonly row: Row;
  /** Values of the table's key, as text: a number can't hold every bigint. */
  readonly key: readonly unknown[];
  /** Unique name of this claim. */
  readonly holder: string;
  /** Number of this attempt, from 1. */
  readonly attempts: number;
}

export interface ClaimOptions {
  readonly chainId: number;
  /** Maximum number of rows. */
  readonly limit: number;
  readonly leaseMs: number;
  /** Unique name of the claim. */
  readonly holder: string;
  /** SQL: columns to return, of the claimed row `work`. */
  readonly returning: string;
}

/** Returns SQL: the time at which a row is due. Tables are indexed by `chain_id` and this expression. */
export function dueMoment(prefix = '', row = ''): string {
  return `coalesce(${row}${prefix}lease_until, ${row}${prefix}due_at)`;
}

/** Returns SQL: assignments that end a claim with success. If `due_at` was set during the work, the row stays due. */
export function settled(prefix = ''): string {
  return `${prefix}lease_until = NULL, ${prefix}holder = NULL, ${prefix}attempts = 0, ${prefix}error_code = NULL, ${prefix}error_message = NULL`;
}

/** Claims due rows, urgent ones first. Concurrent calls never get the same row. */
export async function claimDue<Row extends object>(
  database: Pick<Database, 'query'>,
  table: DueTable,
  options: ClaimOptions,
): Promise<Claim<Row>[]> {
  const urgent = table.isUrgent === undefined ? [] : await claimWhere<Row>(database, table, options, [table.isUrgent]);
  const limit = options.limit - urgent.length;
  return limit === 0 ? urgent : [...urgent, ...(await claimWhere<Row>(database, table, { ...options, limit }, []))];
}

async function claimWhere<Row extends object>(
  database: Pick<Database, 'query'>,
  table: DueTable,
  { chainId, limit, leaseMs, holder, returning }: ClaimOptions,
  conditions: readonly string[],
): Promise<Claim<Row>[]> {
  const { name, key, prefix = '', isOpen = 'true', order = dueMoment(prefix) } = table;
  const found = ['chain_id = $1', isOpen, `${dueMoment(prefix)} <= now()`, ...conditions].join(' AND ');
  const rows = await database.query<Row & { due_attempts: number }>(
    // MATERIALIZED selects the rows once: of a Citus reference table, each node would select its own rows.
    sql`WITH due AS MATERIALIZED (
       SELECT ${rawSql(key.join(', '))} FROM ${rawSql(name)} WHERE ${rawSql(found)} ORDER BY ${rawSql(order)} LIMIT ${limit} ${rawSql(table.isSpread === true ? '' : 'FOR UPDATE SKIP LOCKED')})
     UPDATE ${rawSql(name)} AS work SET ${rawSql(prefix)}due_at = NULL, ${rawSql(prefix)}lease_until = now() + make_interval(secs => ${leaseMs / 1_000}), ${rawSql(prefix)}holder = ${holder},
       ${rawSql(prefix)}attempts = work.${rawSql(prefix)}attempts + 1${rawSql(table.onClaim === undefined ? '' : `, ${table.onClaim}`)}
     FROM due WHERE (${rawSql(columns(key, 'work.'))}) = (${rawSql(columns(key, 'due.'))}) AND work.chain_id = ${chainId} AND ${rawSql(dueMoment(prefix, 'work.'))} <= now()
     RETURNING ${rawSql(key.map((column, place) => `work.${column}::text AS due_key_${place}`).join(', '))}, work.${rawSql(prefix)}attempts AS due_attempts, ${rawSql(returning)}`,
  );
  return rows.map((row) => ({
    row,
    key: key.map((_, place) => Reflect.get(row, `due_key_${place}`)),
    holder,
    attempts: row.due_attempts,
  }));
}

/** Returns the milliseconds until a row is due, 0 or less if one is already; null if none is within `withinMs`. */
export async function msUntilDue(
  database: Pick<Database, 'query'>,
  { name, prefix = '', isOpen = 'true' }: DueTable,
  chainId: number,
  withinMs: number,
): Promise<number | null> {
  const moment = dueMoment(prefix);
  const [row] = await database.query<{ ms: number | null }>(
    sql`SELECT (extract(epoch FROM min(${rawSql(moment)}) - now()) * 1000)::float8 AS ms FROM ${rawSql(name)}
     WHERE chain_id = ${chainId} AND ${rawSql(isOpen)} AND ${rawSql(moment)} <= now() + make_interval(secs => ${withinMs / 1_000})`,
  );
  return row?.ms ?? null;
}

/** Maximum number of rows that a scrape counts. */
const DEPTH_MAX = 10_000;

/** Returns the number of due and of claimed rows. Counts up to 10,000 rows of both together. */
export async function readDueDepth(
  database: Pick<Database, 'query'>,
  { name, prefix = '', isOpen = 'true' }: DueTable,
  chainId: number,
): Promise<{ readonly waiting: number; readonly active: number }> {
  const [row] = await database.query<{ waiting: number; active: number }>(
    sql`SELECT count(*) FILTER (WHERE NOT is_claimed) AS waiting, count(*) FILTER (WHERE is_claimed) AS active
     FROM (SELECT coalesce(${rawSql(prefix)}lease_until > now(), false) AS is_claimed FROM ${rawSql(name)}
           WHERE chain_id = ${chainId} AND ${rawSql(isOpen)} AND ${rawSql(dueMoment(prefix))} <= now() + interval '1 minute'
             AND (${rawSql(prefix)}lease_until IS NOT NULL OR ${rawSql(prefix)}due_at <= now())
           LIMIT ${rawSql(DEPTH_MAX)}) AS work`,
  );
  return row ?? { waiting: 0, active: 0 };
}

/** Extends a lease. @returns true if the claim still holds the row */
export async function renewDue(
  database: Pick<Database, 'query'>,
  table: DueTable,
  claim: Claim<unknown>,
  leaseMs: number,
): Promise<boolean> {
  const prefix = table.prefix ?? '';
  const rows = await database.query(
    `UPDATE ${table.name} SET ${prefix}lease_until = now() + make_interval(secs => $1) WHERE ${isClaimed(table, 2)} RETURNING chain_id`,
    [leaseMs / 1_000, ...claimValues(claim)],
  );
  return rows.length > 0;
}

/** Releases an unfinished row: it is due immediately, and the attempt doesn't count. */
export async function releaseDue(
  database: Pick<Database, 'query'>,
  table: DueTable,
  claim: Claim<unknown>,
): Promise<void> {
  const prefix = table.prefix ?? '';
  await database.query(
    `UPDATE ${table.name} SET ${prefix}due_at = now(), ${prefix}lease_until = NULL, ${prefix}holder = NULL,
       ${prefix}attempts = greatest(${prefix}attempts - 1, 0) WHERE ${isClaimed(table, 1)}`,
    claimValues(claim),
  );
}

/** Stores the error of an attempt. @param failure `retrySeconds` until the next attempt; null: none is planned */
export async function failDue(
  database: Pick<Database, 'query'>,
  table: DueTable,
  claim: Claim<unknown>,
  failure: { readonly error: unknown; readonly retrySeconds: number | null },
): Promise<void> {
  const prefix = table.prefix ?? '';
  const { code, message } = failureOf(failure.error);
  await database.query(
    // MATERIALIZED evaluates the time once: on Citus, each node would use its own.
    `WITH later AS MATERIALIZED (SELECT ${fromNowOld('$1::float8')} AS moment)
     UPDATE ${table.name} SET ${prefix}due_at = coalesce(${prefix}due_at, later.moment), ${prefix}lease_until = NULL, ${prefix}holder = NULL,
       ${prefix}error_code = $2, ${prefix}error_message = $3${table.onFailure === undefined ? '' : `, ${table.onFailure}`}
     FROM later WHERE ${isClaimed(table, 4)}`,
    [failure.retrySeconds, code, message, ...claimValues(claim)],
  );
}

const MESSAGE_LENGTH_MAX = 1_000;

/** An unexpected error in Chainstead. Returns an error as rows store it: all but ChainsteadError are `UNEXPECTED` and retryable. */
export function failureOf(error: unknown): {
  readonly code: string;
  readonly message: string;
  readonly retryable: boolean;
} {
  const message = errorText(error).replaceAll('\0', '').slice(0, MESSAGE_LENGTH_MAX);
  return error instanceof ChainsteadError
    ? { code: error.code, message, retryable: error.retryable }
    : { code: 'UNEXPECTED', message, retryable: true };
}

/** Returns SQL: condition that the claim holds its row. Parameters from `first` on are {@link claimValues}. */
export function isClaimed({ key, prefix = '' }: DueTable, first: number): string {
  return [...key, `${prefix}holder`].map((column, place) => `${column} = $${first + place}`).join(' AND ');
}

/** Returns the parameters of {@link isClaimed}. */
export function claimValues({ key, holder }: Pick<Claim<unknown>, 'key' | 'holder'>): unknown[] {
  return [...key, holder];
}

function columns(key: readonly string[], row: string): string {
  return key.map((column) => `${row}${column}`).join(', ');
}
