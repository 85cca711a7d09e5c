/** Due once `coalesce(lease_until, due_at)` has passed. `due_at` set during the work: due again. */
import { ChainsteadError, errorText } from '@chainstead/core';
import { asSql, type Database, fromNow, joinSql, rawSql, type Sql, sql } from '@chainstead/db';

/** With {@link dueColumns}. Its texts are SQL of the program, never input. */
export interface DueTable {
  readonly name: string;
  readonly key: readonly string[];
  readonly prefix?: string;
  /** One queue for all chains: the table needs no `chain_id`. */
  readonly isShared?: boolean;
  /** As in the index. @default all rows */
  readonly isOpen?: Sql | string;
  /** A client waits for these: claimed first. */
  readonly isUrgent?: Sql | string;
  /** @default earliest due first */
  readonly order?: Sql | string;
  readonly onClaim?: Sql | string;
  /** Assignments. `later.moment`: the next attempt, or null. */
  readonly onFailure?: Sql | string;
  /** Citus can't skip locked rows across nodes: concurrent claims wait. */
  readonly isSpread?: boolean;
}

export interface Claim<Row> {
  readonly row: Row;
  /** As text: a number can't hold every bigint. */
  readonly key: readonly string[];
  readonly holder: string;
  readonly attempts: number;
}

export interface ClaimOptions {
  readonly chainId: number;
  readonly limit: number;
  readonly leaseMs: number;
  readonly holder: string;
  readonly returning: Sql | string;
}

/** Tables of one queue per chain are indexed by `chain_id` and this. */
export function dueMoment({ prefix = '' }: Pick<DueTable, 'prefix'>, row = ''): Sql {
  return rawSql(`coalesce(${row}${prefix}lease_until, ${row}${prefix}due_at)`);
}

/** Success. A `due_at` set during the work keeps the row due. */
export const SETTLED = sql`lease_until = NULL, holder = NULL, attempts = 0, error_code = NULL, error_message = NULL`;

/** Urgent rows first. Concurrent calls never get the same row. */
export async function claimDue<Row extends object>(
  database: Pick<Database, 'query'>,
  table: DueTable,
  options: ClaimOptions,
): Promise<Claim<Row>[]> {
  const { isUrgent } = table;
  const urgent = isUrgent === undefined ? [] : await claimWhere<Row>(database, table, options, [asSql(isUrgent)]);
  const limit = options.limit - urgent.length;
  return limit === 0
    ? urgent
    : [...urgent, ...(await claimWhere<Row>(database, table, { ...options, limit }, []))];
}

async function claimWhere<Row extends object>(
  database: Pick<Database, 'query'>,
  table: DueTable,
  { chainId, limit, leaseMs, holder, returning }: ClaimOptions,
  conditions: readonly Sql[],
): Promise<Claim<Row>[]> {
  const { key, order = dueMoment(table), onClaim } = table;
  const { name, prefix, isOpen } = partsOf(table, chainId);
  const isDue = [isOpen, sql`${dueMoment(table)} <= now()`, ...conditions];
  const isOfChain = table.isShared === true ? rawSql('') : sql`AND work.chain_id = ${chainId}`;
  // Invariant: WORK-ONE-HOLDER
  const rows = await database.query<Row & { dueAttempts: number }>(
    // MATERIALIZED: else each node selects its own rows of a Citus reference table.
    sql`WITH due AS MATERIALIZED (
       SELECT ${columns(key)} FROM ${name} WHERE ${joinSql(isDue, ' AND ')} ORDER BY ${asSql(order)} LIMIT ${limit} ${rawSql(table.isSpread === true ? '' : 'FOR UPDATE SKIP LOCKED')})
     UPDATE ${name} AS work SET ${prefix}due_at = NULL, ${prefix}lease_until = now() + make_interval(secs => ${leaseMs / 1_000}), ${prefix}holder = ${holder},
       ${prefix}attempts = work.${prefix}attempts + 1${also(onClaim)}
     FROM due WHERE (${columns(key, 'work.')}) = (${columns(key, 'due.')}) ${isOfChain} AND ${dueMoment(table, 'work.')} <= now()
     RETURNING ${rawSql(key.map((column, index) => `work.${column}::text AS due_key_${index}`).join(', '))}, work.${prefix}attempts AS due_attempts, ${asSql(returning)}`,
  );
  return rows.map((row) => ({
    row,
    key: key.map((_, index) => String(Reflect.get(row, `dueKey${index}`))),
    holder,
    attempts: row.dueAttempts,
  }));
}

/** 0 or less: a row is due; null: none within `withinMs`. */
export async function msUntilDue(
  database: Pick<Database, 'query'>,
  table: DueTable,
  chainId: number,
  withinMs: number,
): Promise<number | null> {
  const { name, isOpen } = partsOf(table, chainId);
  const moment = dueMoment(table);
  const [row] = await database.query<{ ms: number | null }>(
    sql`SELECT (extract(epoch FROM min(${moment}) - now()) * 1000)::float8 AS ms FROM ${name}
     WHERE ${isOpen} AND ${moment} <= now() + make_interval(secs => ${withinMs / 1_000})`,
  );
  return row?.ms ?? null;
}

const DEPTH_MAX = 10_000;

export async function readDueDepth(
  database: Pick<Database, 'query'>,
  table: DueTable,
  chainId: number,
): Promise<{ readonly waiting: number; readonly active: number }> {
  const { name, prefix, isOpen } = partsOf(table, chainId);
  const [row] = await database.query<{ waiting: number; active: number }>(
    sql`SELECT count(*) FILTER (WHERE NOT is_claimed) AS waiting, count(*) FILTER (WHERE is_claimed) AS active
     FROM (SELECT coalesce(${prefix}lease_until > now(), false) AS is_claimed FROM ${name}
           WHERE ${isOpen} AND ${dueMoment(table)} <= now() + interval '1 minute'
             AND (${prefix}lease_until IS NOT NULL OR ${prefix}due_at <= now())
           LIMIT ${rawSql(DEPTH_MAX)}) AS work`,
  );
  return row ?? { waiting: 0, active: 0 };
}

/** @returns whether the claim still holds the row */
export async function renewDue(
  database: Pick<Database, 'query'>,
  table: DueTable,
  claim: Claim<unknown>,
  leaseMs: number,
): Promise<boolean> {
  const { name, prefix } = partsOf(table);
  const rows = await database.query(
    sql`UPDATE ${name} SET ${prefix}lease_until = now() + make_interval(secs => ${leaseMs / 1_000})
     WHERE ${isClaimed(table, claim)} RETURNING true AS held`,
  );
  return rows.length > 0;
}

/** Due immediately; the attempt doesn't count. */
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

/** `retrySeconds` null: no further attempt. `assignments`: of this failure alone. */
export async function failDue(
  database: Pick<Database, 'query'>,
  table: DueTable,
  claim: Claim<unknown>,
  failure: { readonly error: unknown; readonly retrySeconds: number | null; readonly assignments?: Sql },
): Promise<void> {
  const { name, prefix } = partsOf(table);
  const { code, message } = failureOf(failure.error);
  await database.query(
    // MATERIALIZED: else each Citus node uses its own time.
    sql`WITH later AS MATERIALIZED (SELECT ${fromNow(sql`${failure.retrySeconds}::float8`)} AS moment)
     UPDATE ${name} SET ${prefix}due_at = coalesce(${prefix}due_at, later.moment), ${prefix}lease_until = NULL, ${prefix}holder = NULL,
       ${prefix}error_code = ${code}, ${prefix}error_message = ${message}${also(table.onFailure)}${also(failure.assignments)}
     FROM later WHERE ${isClaimed(table, claim)}`,
  );
}

const MESSAGE_LENGTH_MAX = 1_000;

/** An unexpected error in Chainstead. It becomes `UNEXPECTED` and retryable. */
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

export function partsOf({ name, prefix = '', isOpen = 'true', isShared = false }: DueTable, chainId = 0) {
  const isOfChain = isShared ? asSql(isOpen) : sql`chain_id = ${chainId} AND ${asSql(isOpen)}`;
  return { name: rawSql(name), prefix: rawSql(prefix), isOpen: isOfChain };
}

function also(assignments: Sql | string | undefined): Sql {
  return assignments === undefined ? rawSql('') : sql`, ${asSql(assignments)}`;
}
