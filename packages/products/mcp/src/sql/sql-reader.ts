import { errorText, type Logger } from '@chainstead/core';
import type { Database } from '@chainstead/db';
import { excessRights, openDatabase, runAlone } from '@chainstead/db/server';
import { z } from 'zod';
import { RESULT_BYTES_MAX } from '../results/tool-result.ts';
import { type CheckedStatement, checkStatement } from './check-statement.ts';
import {
  LocalPlaces,
  type SessionClient,
  SQL_PLACES,
  type SqlPlaces,
  SqlRefusalError,
  takePlace,
} from './sql-refusal.ts';

export interface SqlRows {
  /** Names in the order of the statement. */
  readonly columns: readonly string[];
  /** JSON of each, with the columns as names. */
  readonly rows: readonly string[];
  readonly hasMore: boolean;
}

/** Each statement has its own connection, as a role that can only read. */
export interface SqlReader {
  read(sql: string, asker: SqlAsker): Promise<SqlRows>;
  columns(view: string | null, asker: SqlAsker): Promise<SqlRows>;
}

interface SqlAsker {
  readonly key: string;
  readonly signal?: AbortSignal | undefined;
}

export interface SqlReaderOptions {
  /** Login of a member of `chainstead_reader` that has no other rights. */
  readonly url: string;
  readonly logger: Logger;
  /** @default 200 */
  readonly rowsMax?: number;
  /** @default 10,000 */
  readonly timeoutMs?: number;
  readonly places?: SqlPlaces;
}

const ROWS_MAX = 200;
const TIMEOUT_MS = 10_000;
/** Milliseconds for the server to report its timeout. */
const GRACE_MS = 2_000;

/** @throws {DatabaseError} DATABASE_URL_INVALID */
export function openSqlReader({ url, logger, ...limits }: SqlReaderOptions): SqlReader {
  const { rowsMax = ROWS_MAX, timeoutMs = TIMEOUT_MS, places = SQL_PLACES } = limits;
  // A pooled connection would keep settings of the statement before.
  const database = openDatabase({ url, applicationName: 'chainstead agent', poolSize: 1, logger });
  const local = new LocalPlaces(places);
  const run = async <T>({ key, signal }: SqlAsker, work: (client: SessionClient) => Promise<T>): Promise<T> => {
    const free = local.take(key);
    try {
      const client = await connect(database, timeoutMs + GRACE_MS, logger);
      const abandon = (): void => void cancel(client, logger);
      signal?.addEventListener('abort', abandon, { once: true });
      if (signal?.aborted === true) abandon();
      try {
        await runAlone(client, 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
        await takePlace(client, key, places);
        await restrict(client, timeoutMs);
        return await work(client);
      } catch (error) {
        throw error instanceof SqlRefusalError ? error : refusalOf(error, timeoutMs);
      } finally {
        signal?.removeEventListener('abort', abandon);
        await client.end();
      }
    } finally {
      free();
    }
  };
  return {
    async read(sql, asker) {
      const checked = await checkStatement(sql);
      const { columns, rows } = await run(asker, (client) => readRows(client, checked, rowsMax));
      return { columns, rows: rows.slice(0, rowsMax), hasMore: rows.length > rowsMax };
    },
    async columns(view, asker) {
      const rows = await run(asker, (client) => runAlone<{ view: string; columns: string }>(client, COLUMNS_SQL));
      const chosen = rows.filter((row) => view === null || row.view === view.replace(/^analytics\./, ''));
      if (chosen.length === 0)
        throw new SqlRefusalError(
          'SQL_REFUSED',
          `There is no view ${view ?? ''}`,
          'Omit view to list all views.',
        );
      return { columns: ['view', 'columns'], rows: chosen.map((row) => JSON.stringify(row)), hasMore: false };
    },
  };
}

const COLUMNS_SQL = `SELECT c.relname AS view,
  string_agg(a.attname || ' ' || replace(format_type(a.atttypid, a.atttypmod), 'timestamp with time zone', 'timestamptz'), ', ' ORDER BY a.attnum) AS columns
FROM pg_catalog.pg_class c JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
WHERE c.relnamespace = 'analytics'::regnamespace AND c.relkind IN ('r', 'p', 'v', 'm') AND has_table_privilege(c.oid, 'SELECT')
GROUP BY c.relname ORDER BY c.relname`;

async function cancel(client: SessionClient, logger: Logger): Promise<void> {
  try {
    await client.cancel();
  } catch (error) {
    logger.debug({ error: errorText(error) }, 'SQL statement not canceled');
  } finally {
    client.destroy();
  }
}

async function connect(database: Database, queryTimeoutMs: number, logger: Logger): Promise<SessionClient> {
  const client = database.session({ queryTimeoutMs });
  client.on('error', (error) => logger.debug({ error: errorText(error) }, 'SQL connection lost'));
  try {
    await client.connect();
    return client;
  } catch (error) {
    logger.warn({ error: errorText(error) }, 'DATABASE_ANALYST_URL is unavailable');
    const logFailure = (ending: unknown) =>
      logger.debug({ error: errorText(ending) }, 'SQL connection not ended');
    await client.end().catch(logFailure);
    // The error of the driver may contain the address of the server.
    throw new SqlRefusalError(
      'SQL_UNAVAILABLE',
      'The database for SQL is unavailable',
      'Retry later, or use another tool.',
    );
  }
}

async function restrict(client: SessionClient, timeoutMs: number): Promise<void> {
  for (const [name, value] of Object.entries({ ...SETTINGS, statement_timeout: String(timeoutMs) }))
    await runAlone(client, `SET LOCAL ${name} = ${value}`);
  // Invariant: DB-READ-ONLY
  const excess = await excessRights(client);
  if (excess !== null)
    throw new SqlRefusalError(
      'SQL_ROLE_UNSAFE',
      `The role of DATABASE_ANALYST_URL is unsafe. ${excess}`,
      'The operator has to set DATABASE_ANALYST_URL to a role that is only a member of chainstead_reader.',
    );
  await runAlone(client, 'SET LOCAL search_path TO analytics');
}

/** Hash joins are off: equal keys of many rows must fit into memory. A server may have turned off the others. */
const SETTINGS: Readonly<Record<string, string>> = {
  lock_timeout: '1000',
  hash_mem_multiplier: '1',
  max_parallel_workers_per_gather: '0',
  enable_hashjoin: 'off',
  enable_mergejoin: 'on',
  enable_nestloop: 'on',
  enable_sort: 'on',
  jit: 'off',
};

async function readRows(
  client: SessionClient,
  { statement, innerSorts, hasGrowingGroups, sortedData }: CheckedStatement,
  rowsMax: number,
): Promise<Pick<SqlRows, 'columns' | 'rows'>> {
  await runAlone(client, `SET LOCAL enable_hashagg = ${hasGrowingGroups ? 'off' : 'on'}`);
  // EXPLAIN accepts one query, so the statement can't leave its parentheses below.
  const explain = async () => {
    const [explained] = await runAlone<{ 'QUERY PLAN': unknown }>(
      client,
      `EXPLAIN (VERBOSE, FORMAT JSON) ${statement}`,
    );
    return explained?.['QUERY PLAN'];
  };
  let plan = await explain();
  // A sort with a limit keeps as many rows in memory, however long.
  if (sortedData > SORTED_DATA_MAX && hasSort(plan)) {
    await runAlone(client, 'SET LOCAL enable_sort = off');
    await runAlone(client, 'SET LOCAL enable_incremental_sort = off');
    plan = await explain();
    if (hasSort(plan))
      throw new SqlRefusalError(
        'SQL_REFUSED',
        `ORDER BY would keep data of ${sortedData} logs in memory`,
        `Name contract_key, contract_bytes and chain_id in WHERE and order by block_number, transaction_index and log_index, or use LIMIT ${SORTED_DATA_MAX}.`,
      );
  }
  const workMemoryKb = workMemoryOf(plan, { innerSorts, hasGrowingGroups });
  if (workMemoryKb === null)
    throw new SqlRefusalError(
      'SQL_REFUSED',
      'The plan of the statement has a hash table without a bound',
      'Use NOT EXISTS instead of NOT IN, no FULL JOIN, and group by values that have an order.',
    );
  await runAlone(client, `SET LOCAL work_mem = ${workMemoryKb}`);
  // A variable, because the driver's types lack `queryMode`.
  const described = { text: `SELECT * FROM (\n${statement}\n) AS given LIMIT 0`, queryMode: 'extended' };
  const { fields } = await client.query<object>(described);
  const columns = fields.map(({ name }) => name);
  const rows = await runAlone<{ row: string }>(client, jsonRowsSql(statement, fields, rowsMax));
  return { columns, rows: rows.map(({ row }) => row) };
}

/** Object ids: numbers, times and truth values; texts. */
const SHORT_TYPES = new Set([16, 20, 21, 23, 700, 701, 1082, 1083, 1114, 1184, 1186, 1266, 1700, 2950]);
const TEXT_TYPES = new Set([19, 25, 705, 1042, 1043]);

function jsonRowsSql(
  statement: string,
  columns: readonly { readonly name: string; readonly dataTypeID: number }[],
  rowsMax: number,
): string {
  const bytes = RESULT_BYTES_MAX + 1;
  const shown = columns.map(({ name, dataTypeID }, index) => {
    const value = `c${index}`;
    const start = `pg_catalog.left(${value}::text, ${bytes})`;
    const bounded = SHORT_TYPES.has(dataTypeID)
      ? value
      : TEXT_TYPES.has(dataTypeID)
        ? start
        : `CASE WHEN pg_catalog.octet_length(${value}::text) > ${bytes} THEN pg_catalog.to_json(${start}) ELSE pg_catalog.to_json(${value}) END`;
    return `${bounded} AS "${name.replaceAll('"', '""')}"`;
  });
  const names = columns.map((_, index) => `c${index}`);
  return `SELECT pg_catalog.left(pg_catalog.row_to_json(shown)::text, ${bytes}) AS row FROM (
SELECT ${shown.join(', ')} FROM (
${statement}
) AS given(${names.join(', ')})
) AS shown LIMIT ${rowsMax + 1}`;
}

const SQLSTATE_CANCELED = '57014';

/** Only Postgres' texts about the agent's own statement. */
function refusalOf(error: unknown, timeoutMs: number): SqlRefusalError {
  const code: unknown = error instanceof Error && 'code' in error ? error.code : undefined;
  const isState = typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code);
  if (!(error instanceof Error) || !isState || code === SQLSTATE_CANCELED)
    return new SqlRefusalError(
      'SQL_TIMEOUT',
      `The statement was stopped after ${timeoutMs / 1_000} s`,
      'Name the key column, the bytes column and chain_id in WHERE, as docs/api/sql.md shows, or read fewer blocks.',
    );
  return new SqlRefusalError(
    'SQL_REFUSED',
    `Postgres refused the statement (${code}): ${error.message.slice(0, MESSAGE_LENGTH_MAX)}`,
    'Only one SELECT over views of the schema analytics is allowed. The tool sql_columns lists their columns.',
  );
}

const MESSAGE_LENGTH_MAX = 500;

/** Texts of two megabytes. */
const SORTED_DATA_MAX = 16;
const SHARED_KB = 65_536;
/** Per sort or hash table, in kilobytes. The least is that of Postgres. */
const WORK_MEM_KB = { max: 8_192, min: 64 };
const NODES_WITH_MEMORY = /Sort|Aggregate|WindowAgg|Materialize|Memoize|CTE Scan|Function Scan|SetOp/;

/** They never use the disk, and a statement can deceive the estimates of their size. */
const UNBOUNDED_NODES = /^(?:Hash|SetOp|Recursive Union)$/;
const planShape = z.array(z.looseObject({ Plan: z.unknown() })).length(1);

function hasSort(explained: unknown): boolean {
  if (typeof explained !== 'object' || explained === null) return false;
  const isSort = 'Node Type' in explained && /Sort$/.test(String(explained['Node Type']));
  return isSort || Object.values(explained).some(hasSort);
}

/** Kilobytes each; null: one has no bound. `explained`: EXPLAIN (VERBOSE, FORMAT JSON). */
function workMemoryOf(
  explained: unknown,
  { innerSorts, hasGrowingGroups }: Pick<CheckedStatement, 'innerSorts' | 'hasGrowingGroups'>,
): number | null {
  let holders = innerSorts;
  let isBounded = true;
  const look = (value: unknown): void => {
    if (typeof value === 'string') isBounded &&= !value.includes('hashed SubPlan');
    else if (Array.isArray(value)) value.forEach(look);
    else if (typeof value === 'object' && value !== null) {
      const type = 'Node Type' in value ? String(value['Node Type']) : '';
      if (NODES_WITH_MEMORY.test(type)) holders++;
      if (UNBOUNDED_NODES.test(type)) isBounded = false;
      if (hasGrowingGroups && 'Strategy' in value && value.Strategy === 'Hashed') isBounded = false;
      Object.values(value).forEach(look);
    }
  };
  look(planShape.parse(explained));
  if (!isBounded) return null;
  return Math.min(WORK_MEM_KB.max, Math.max(WORK_MEM_KB.min, Math.floor(SHARED_KB / Math.max(1, holders))));
}
