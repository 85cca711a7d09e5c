import { errorText, type Logger } from '@chainstead/core';
import { type Database, excessRights, openDatabase, runAlone } from '@chainstead/db';
import { RESULT_BYTES_MAX } from '../results/fit-text.ts';
import { SqlRefusalError } from './sql-refusal.ts';

/** A connection for one statement of an agent. */
type SessionClient = ReturnType<Database['session']>;

/** Runs statements of agents, each on its own connection as a role that can only read. */
export interface SqlReader {
  /**
   * Returns the first rows as JSON texts, at most `rowsMax`, and whether there are more.
   * @throws SqlRefusalError
   */
  read(sql: string): Promise<{ readonly rows: readonly string[]; readonly hasMore: boolean }>;
}

export interface SqlReaderOptions {
  /** Login of a member of `chainstead_reader` that has no other rights. */
  readonly url: string;
  readonly logger: Logger;
  /** @default 200 */
  readonly rowsMax?: number;
  /** @default 10,000 */
  readonly timeoutMs?: number;
  /** Statements at the same time in this process. @default 2 */
  readonly concurrency?: number;
}

const ROWS_MAX = 200;
const TIMEOUT_MS = 10_000;
const CONCURRENCY = 2;
/** Time that the server gets to report its own timeout, before the connection is given up. Milliseconds. */
const GRACE_MS = 2_000;
/** Longest statement. Characters. */
export const SQL_LENGTH_MAX = 10_000;

/** @throws {DatabaseError} DATABASE_URL_INVALID */
export function openSqlReader({ url, logger, ...limits }: SqlReaderOptions): SqlReader {
  const { rowsMax = ROWS_MAX, timeoutMs = TIMEOUT_MS, concurrency = CONCURRENCY } = limits;
  // Only single sessions are used: a pooled connection would keep settings of the statement before.
  const database = openDatabase({ url, applicationName: 'chainstead agent', poolSize: 1, logger });
  let running = 0;
  return {
    async read(sql) {
      const statement = withoutEnd(sql);
      if (running >= concurrency)
        throw new SqlRefusalError('SQL_BUSY', `${concurrency} statements are running`, 'Retry in a few seconds.');
      running++;
      try {
        const client = await connect(database, timeoutMs + GRACE_MS, logger);
        try {
          const rows = await readRows(client, statement, { rowsMax, timeoutMs });
          return { rows: rows.slice(0, rowsMax), hasMore: rows.length > rowsMax };
        } finally {
          // Also ends the transaction.
          await client.end();
        }
      } finally {
        running--;
      }
    },
  };
}

/** Removes a final semicolon. @throws SqlRefusalError */
function withoutEnd(sql: string): string {
  const statement = sql.replace(/[;\s]+$/, '');
  if (statement.trim() === '') throw new SqlRefusalError('SQL_REFUSED', 'sql is empty', 'Pass one SELECT statement.');
  if (statement.length > SQL_LENGTH_MAX)
    throw new SqlRefusalError(
      'SQL_REFUSED',
      `sql has more than ${SQL_LENGTH_MAX} characters`,
      'Shorten the statement.',
    );
  if (statement.includes('\0')) throw new SqlRefusalError('SQL_REFUSED', 'sql contains a NUL character', 'Remove it.');
  return statement;
}

async function connect(database: Database, queryTimeoutMs: number, logger: Logger): Promise<SessionClient> {
  const client = database.session({ queryTimeoutMs });
  client.on('error', (error) => logger.debug({ error: errorText(error) }, 'SQL connection lost'));
  try {
    await client.connect();
    return client;
  } catch (error) {
    logger.warn({ error: errorText(error) }, 'MCP_DATABASE_URL is unavailable');
    await client
      .end()
      .catch((ending: unknown) => logger.debug({ error: errorText(ending) }, 'SQL connection not ended'));
    // The error of the driver may contain the address of the server.
    throw new SqlRefusalError(
      'SQL_UNAVAILABLE',
      'The database for SQL is unavailable',
      'Retry later, or use another tool.',
    );
  }
}

async function readRows(
  client: SessionClient,
  statement: string,
  { rowsMax, timeoutMs }: { readonly rowsMax: number; readonly timeoutMs: number },
): Promise<string[]> {
  const run = <Row extends object>(text: string) => runAlone<Row>(client, text);
  await run('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
  await run(`SET LOCAL statement_timeout = ${timeoutMs}`);
  await run('SET LOCAL lock_timeout = 1000');
  const excess = await excessRights(client);
  if (excess !== null)
    throw new SqlRefusalError(
      'SQL_ROLE_UNSAFE',
      `The role of MCP_DATABASE_URL is unsafe. ${excess}`,
      'The operator has to set MCP_DATABASE_URL to a role that is only a member of chainstead_reader.',
    );
  await run('SET LOCAL search_path TO analytics');
  try {
    // Alone it must be one query, so that below it can't leave its parentheses.
    await run(`DECLARE given NO SCROLL CURSOR FOR ${statement}`);
    await run('CLOSE given');
    const rows = await run<{
      row: string;
    }>(`SELECT left(pg_catalog.row_to_json(given)::text, ${RESULT_BYTES_MAX + 1}) AS row FROM (
${statement}
) AS given LIMIT ${rowsMax + 1}`);
    return rows.map(({ row }) => row);
  } catch (error) {
    throw refusalOf(error, timeoutMs);
  }
}

const SQLSTATE_CANCELED = '57014';

/** Texts of Postgres about the agent's own statement. Other errors have no text for agents. */
function refusalOf(error: unknown, timeoutMs: number): SqlRefusalError {
  const code: unknown = error instanceof Error && 'code' in error ? error.code : undefined;
  if (
    !(error instanceof Error) ||
    typeof code !== 'string' ||
    !/^[0-9A-Z]{5}$/.test(code) ||
    code === SQLSTATE_CANCELED
  )
    return new SqlRefusalError(
      'SQL_TIMEOUT',
      `The statement was stopped after ${timeoutMs / 1_000} s`,
      'Name the key column, the bytes column and chain_id in WHERE, as docs/api/sql.md shows, or read fewer blocks.',
    );
  return new SqlRefusalError(
    'SQL_REFUSED',
    `Postgres refused the statement (${code}): ${error.message.slice(0, MESSAGE_LENGTH_MAX)}`,
    "Only one SELECT over views of the schema analytics is allowed. List their columns: SELECT table_name, column_name, data_type FROM information_schema.columns WHERE table_schema = 'analytics'.",
  );
}

/** Errors may repeat long values of the statement. Characters. */
const MESSAGE_LENGTH_MAX = 500;
