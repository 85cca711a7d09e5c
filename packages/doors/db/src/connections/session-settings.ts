import { joinSql, type Sql, sql } from '../sql.ts';

type Settings = Readonly<Record<string, string>>;

/** Kept for each client by poolers in transaction mode, such as PgBouncer. */
export const POOLED_SETTINGS: Settings = {
  DateStyle: 'ISO, MDY',
  TimeZone: 'UTC',
  standard_conforming_strings: 'on',
};

/** They decide rows, names and texts of values. */
export const RESULT_SETTINGS: Settings = {
  ...POOLED_SETTINGS,
  IntervalStyle: 'postgres',
  array_nulls: 'on',
  bytea_output: 'hex',
  default_transaction_isolation: 'read committed',
  extra_float_digits: '1',
  gin_fuzzy_search_limit: '0',
  quote_all_identifiers: 'off',
  // Hosted servers install extensions into the second one.
  search_path: 'public, extensions',
  transform_null_equals: 'off',
};

/** For every session: a server, database or role may have others (ALTER DATABASE … SET). */
// Invariant: DB-SESSION-SETTINGS
export const SESSION_SETTINGS: Settings = {
  ...RESULT_SETTINGS,
  // Callers bound their statements, and idle listeners stay.
  idle_session_timeout: '0',
  lock_timeout: '0',
  statement_timeout: '0',
  transaction_timeout: '0',
  // A silent client must not hold locks.
  idle_in_transaction_session_timeout: '30s',
  tcp_keepalives_count: '3',
  tcp_keepalives_idle: '3',
  tcp_keepalives_interval: '1',
  tcp_user_timeout: '8000',
};

/** Postgres before 17 lacks it. */
const RECENT = 'transaction_timeout';

/** @returns the items of a SELECT */
export function settingCalls(settings: Settings): Sql {
  const calls = Object.entries(settings).map(([name, value]) => {
    const call = sql`set_config(${name}, ${value}, false)`;
    return name === RECENT ? sql`CASE WHEN current_setting(${name}, true) IS NOT NULL THEN ${call} END` : call;
  });
  return joinSql(calls);
}
