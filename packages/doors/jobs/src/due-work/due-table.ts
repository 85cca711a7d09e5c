/**
 * SQL statements that claim, renew, release and fail rows of due work. A row is due once
 * `coalesce(lease_until, due_at)` has passed. A claim clears `due_at`; if set during the work, the row runs again.
 */
import { ChainsteadError, errorText } from '@chainstead/core';
import { asSql, type Database, fromNow, joinSql, rawSql, type Sql, sql } from '@chainstead/db';

/** A table with {@link dueColumns} and a `chain_id`. Texts in it are SQL of the program, never input. */
export interface DueTable {
  readonly name: string;
  readonly key: readonly string[];
  readonly prefix?: string;
  /** Condition of rows that can be due, as in the index. Default: all. */
  readonly isOpen?: Sql | string;
  /** Condition of rows that a client waits for: claimed first. */
  readonly isUrgent?: Sql | string;
  /** Order of claims. Default: earliest due first. */
  readonly order?: Sql | string;
  readonly onClaim?: Sql | string;
  /** Additional assignments of a failure. `later.moment`: the next attempt, or null. */
  readonly onFailure?: Sql | string;
  /** Citus distributes the rows. It can't skip locked rows across nodes, so concurrent claims wait. */
  readonly isSpread?: boolean;
}

export interface Claim<Row> {
  readonly row: Row;
  /** Values of the table's key, as text: a number can't hold every bigint. */
  readonly key: readonly string[];
  readonly holder: string;
  /** From 1. */
  readonly attempts: number;
}

export interface ClaimOptions {
  readonly chainId: number;
  readonly limit: number;
  readonly leaseMs: number;
  readonly holder: string;
  /** Columns of the claimed row `work`. */
  readonly returning: Sql | string;
}

/** The time at which a row is due. Tables are indexed by `chain_id` and this expression. */
export function dueMoment({ prefix = '' }: Pick<DueTable, 'prefix'>, row = ''): Sql {
  return rawSql(`coalesce(${row}${prefix}lease_until, ${row}${prefix}due_at)`);
}

/** Ends a claim with success. If `due_at` was set during the work, the row stays due. */
export const SETTLED = sql`lease_until = NULL, holder = NULL, attempts = 0, error_code = NULL, error_message = NULL`;

/** Claims due rows, urgent ones first. Concurrent calls never get the same row. */
export async function claimDue<Row extends object>(
  database: Pick<Database, 'query'>,
  table: DueTable,
  options: ClaimOptions,
): Promise<Claim<Row>[]> {
  const { isUrgent } = table;
  const urgent = isUrgent === undefined ? [] : await claimWhere<Row>(database, table, options, [asSql(isUrgent)]);
  const limit = options.limit - urgent.length;
  return limit === 0 ? urgent : [...urgent, ...(await claimWhere<Row>(database, table, { ...options, limit }, []))];
}

async function claimWhere<Row extends object>(
  database: Pick<Database, 'query'>,
  table: DueTable,
  { chainId, limit, leaseMs, holder, returning }: ClaimOptions,
  conditions: readonly Sql[],
): Promise<Claim<Row>[]> {
  const { key, order = dueMoment(table), onClaim } = table;
  const { name, prefix, isOpen } = partsOf(table);
  const isDue = [sql`chain_id = ${chainId}`, isOpen, sql`${dueMoment(table)} <= now()`, ...conditions];
  // Invariant: WORK-ONE-HOLDER
  const rows = await database.query<Row & { due_attempts: number }>(
    // MATERIALIZED selects the rows once: of a Citus reference table, each node would select its own rows.
    sql`WITH due AS MATERIALIZED (
       SELECT ${columns(key)} FROM ${name} WHERE ${joinSql(isDue, ' AND ')} ORDER BY ${asSql(order)} LIMIT ${limit} ${rawSql(table.isSpread === true ? '' : 'FOR UPDATE SKIP LOCKED')})
     UPDATE ${name} AS work SET ${prefix}due_at = NULL, ${prefix}lease_until = now() + make_interval(secs => ${leaseMs / 1_000}), ${prefix}holder = ${holder},
       ${prefix}attempts = work.${prefix}attempts + 1${also(onClaim)}
     FROM due WHERE (${columns(key, 'work.')}) = (${columns(key, 'due.')}) AND work.chain_id = ${chainId} AND ${dueMoment(table, 'work.')} <= now()
     RETURNING ${rawSql(key.map((column, index) => `work.${column}::text AS due_key_${index}`).join(', '))}, work.${prefix}attempts AS due_attempts, ${asSql(returning)}`,
  );
  return rows.map((row) => ({
    row,
    key: key.map((_, index) => String(Reflect.get(row, `due_key_${index}`))),
    holder,
    attempts: row.due_attempts,
  }));
}

/** 0 or less if a row is due; null if none is within `withinMs`. */
export async function msUntilDue(
  database: Pick<Database, 'query'>,
  table: DueTable,
  chainId: number,
  withinMs: number,
): Promise<number | null> {
  const { name, isOpen } = partsOf(table);
  const moment = dueMoment(table);
  const [row] = await database.query<{ ms: number | null }>(
    sql`SELECT (extract(epoch FROM min(${moment}) - now()) * 1000)::float8 AS ms FROM ${name}
     WHERE chain_id = ${chainId} AND ${isOpen} AND ${moment} <= now() + make_interval(secs => ${withinMs / 1_000})`,
  );
  return row?.ms ?? null;
}

const DEPTH_MAX = 10_000;

/** Due and claimed rows, at most 10,000 together. */
export async function readDueDepth(
  database: Pick<Database, 'query'>,
  table: DueTable,
  chainId: number,
): Promise<{ readonly waiting: number; readonly active: number }> {
  const { name, prefix, isOpen } = partsOf(table);
  const [row] = await database.query<{ waiting: number; active: number }>(
    sql`SELECT count(*) FILTER (WHERE NOT is_claimed) AS waiting, count(*) FILTER (WHERE is_claimed) AS active
     FROM (SELECT coalesce(${prefix}lease_until > now(), false) AS is_claimed FROM ${name}
           WHERE chain_id = ${chainId} AND ${isOpen} AND ${dueMoment(table)} <= now() + interval '1 minute'
             AND (${prefix}lease_until IS NOT NULL OR ${prefix}due_at <= now())
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
  const { name, prefix } = partsOf(table);
  const rows = await database.query(
    sql`UPDATE ${name} SET ${prefix}lease_until = now() + make_interval(secs => ${leaseMs / 1_000})
     WHERE ${isClaimed(table, claim)} RETURNING chain_id`,
  );
  return rows.length > 0;
}

/** Releases an unfinished row: it is due immediately, and the attempt doesn't count. */
export async function releaseDue(
  database: Pick<Database, 'query'>,
  table: DueTable,
  claim: Claim<unknown>,
): Promise<void> {
  const { name, prefix } = partsOf(table);
  await database.query(
    sql`UPDATE ${name} SET ${prefix}due_at = now(), ${prefix}lease_until = NULL, ${prefix}holder = NULL,
       ${prefix}attempts = greatest(${prefix}attempts - 1, 0) WHERE ${isClaimed(table, claim)}`,
  );
}

/** Stores the error of an attempt. `retrySeconds` null: no further attempt is planned. */
export async function failDue(
  database: Pick<Database, 'query'>,
  table: DueTable,
  claim: Claim<unknown>,
  failure: { readonly error: unknown; readonly retrySeconds: number | null },
): Promise<void> {
  const { name, prefix } = partsOf(table);
  const { code, message } = failureOf(failure.error);
  await database.query(
    // MATERIALIZED evaluates the time once: on Citus, each node would use its own.
    sql`WITH later AS MATERIALIZED (SELECT ${fromNow(sql`${failure.retrySeconds}::float8`)} AS moment)
     UPDATE ${name} SET ${prefix}due_at = coalesce(${prefix}due_at, later.moment), ${prefix}lease_until = NULL, ${prefix}holder = NULL,
       ${prefix}error_code = ${code}, ${prefix}error_message = ${message}${also(table.onFailure)}
     FROM later WHERE ${isClaimed(table, claim)}`,
  );
}

const MESSAGE_LENGTH_MAX = 1_000;

/** An unexpected error in Chainstead. Rows store it as `UNEXPECTED` and retryable; a ChainsteadError keeps its code. */
export function failureOf(error: unknown) {
  const message = errorText(error).replaceAll('\0', '').slice(0, MESSAGE_LENGTH_MAX);
  return error instanceof ChainsteadError
    ? { code: error.code, message, retryable: error.retryable }
    : { code: 'UNEXPECTED', message, retryable: true };
}

export function isClaimed({ key, prefix = '' }: DueTable, claim: Pick<Claim<unknown>, 'key' | 'holder'>): Sql {
  const values = [...claim.key, claim.holder];
  return joinSql(
    [...key, `${prefix}holder`].map((column, index) => sql`${rawSql(column)} = ${values[index] ?? null}`),
    ' AND ',
  );
}

function columns(key: readonly string[], row = ''): Sql {
  return joinSql(key.map((column) => rawSql(`${row}${column}`)));
}

export function partsOf({ name, prefix = '', isOpen = 'true' }: DueTable) {
  return { name: rawSql(name), prefix: rawSql(prefix), isOpen: asSql(isOpen) };
}

function also(assignments: Sql | string | undefined): Sql {
  return assignments === undefined ? rawSql('') : sql`, ${asSql(assignments)}`;
}
