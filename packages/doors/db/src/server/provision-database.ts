import { type Client, escapeIdentifier, escapeLiteral } from 'pg';
import { connectionProblem } from '../connections/connection-problem.ts';
import { parseConnectionString, redactConnectionString } from '../connections/connection-string.ts';
import { hasCode, withSession } from '../connections/open-pool.ts';
import { queryOn } from '../connections/query-on.ts';
import { DatabaseError } from '../database-error.ts';
import { READER_ROLE, readerLoginOf, readerPasswordOf } from '../readers/reader-login.ts';
import { rawSql, type Sql, sql } from '../sql.ts';

const APPLICATION_NAME = 'chainstead provision';

export const SUPERUSER = 'postgres';
const PROGRAM_ROLE = 'chainstead';
const DATABASE = 'chainstead';
const EXTENSIONS = ['btree_gist', 'pg_trgm'];
/** Per session, for sorts and joins that exceed memory. */
const TEMP_FILE_LIMIT = '2GB';

const SQLSTATE_INVALID_PASSWORD = '28P01';
const SQLSTATE_INSUFFICIENT_PRIVILEGE = '42501';
/** Two processes provision: the other's objects or changes (XX000) are the same. */
const SQLSTATES_MADE_MEANWHILE: ReadonlySet<unknown> = new Set(['42710', '42P04', '23505', 'XX000']);
const SERVER_VERSION_WITH_TRANSACTION_TIMEOUT = 170_000;

export interface ProvisionedServer {
  readonly port: number;
  readonly passwords: { readonly superuser: string; readonly program: string };
}

export function programUrl({ port, passwords }: ProvisionedServer): string {
  return `postgres://${PROGRAM_ROLE}:${passwords.program}@127.0.0.1:${port}/${DATABASE}?${WITHOUT_TLS}`;
}

export function superuserUrl({ port, passwords }: ProvisionedServer): string {
  return `postgres://${SUPERUSER}:${passwords.superuser}@127.0.0.1:${port}/postgres?${WITHOUT_TLS}`;
}

/** The server has none. Otherwise each pool and session would try it first, with two connections more. */
const WITHOUT_TLS = 'sslmode=disable';

export interface ProvisionOptions {
  readonly superuserUrl: string;
  /** Database, role and password need not exist. */
  readonly programUrl: string;
}

/** {@link provisionDatabase} would change nothing. One session as the program. False if it can't log in. */
export async function isProvisioned(url: string): Promise<boolean> {
  const { target, role } = readProgram(url);
  const provided = sql`SELECT FROM pg_roles WHERE rolname = ${READER_ROLE} AND rolconfig IS NOT NULL
    AND EXISTS (SELECT FROM pg_roles WHERE rolname = ${readerLoginOf(target.database).role})
    AND ${EXTENSIONS.length} = (SELECT count(*) FROM pg_extension WHERE extname = ANY (${EXTENSIONS}::text[]))`;
  try {
    return await withSession(target, APPLICATION_NAME, async (session) => {
      if ((await queryOn(session, provided)).length === 0) return false;
      return (await queryOn(session, missingRights(sql`${role}`))).length === 0;
    });
  } catch (error) {
    if (hasCode(error)) return false;
    throw error;
  }
}

/** Changes nothing if all exists. @throws {DatabaseError} DATABASE_NOT_PROVISIONED */
export async function provisionDatabase(urls: ProvisionOptions): Promise<void> {
  const superuser = parseConnectionString(urls.superuserUrl);
  const program = readProgram(urls.programUrl);
  if (superuser.user === program.role)
    throw notProvisioned(
      `DATABASE_URL and DATABASE_SUPERUSER_URL both name the role ${program.role}`,
      'Set DATABASE_URL to a separate role that is not a superuser',
    );
  try {
    await withSession(superuser, APPLICATION_NAME, async (admin) => {
      const [role] = await queryOn(admin, sql`SELECT FROM pg_roles WHERE rolname = ${program.role}`);
      // With its password: the server would log a failed login.
      if (role === undefined)
        await make(
          admin,
          sql`CREATE ROLE ${rawSql(escapeIdentifier(program.role))} LOGIN PASSWORD ${rawSql(escapeLiteral(program.password))}`,
        );
      await provideReaders(admin);
      await provideReaderLogin(admin, urls.programUrl);
      const [database] = await queryOn(admin, sql`SELECT FROM pg_database WHERE datname = ${program.database}`);
      if (database === undefined)
        await make(
          admin,
          sql`CREATE DATABASE ${rawSql(escapeIdentifier(program.database))} OWNER ${rawSql(escapeIdentifier(program.role))} TEMPLATE template0 ENCODING 'UTF8'`,
        );
    });
    await withSession({ ...superuser, database: program.database }, APPLICATION_NAME, async (admin) => {
      for (const name of EXTENSIONS) {
        const [extension] = await queryOn(admin, sql`SELECT FROM pg_extension WHERE extname = ${name}`);
        if (extension === undefined) await make(admin, sql`CREATE EXTENSION ${rawSql(name)}`);
      }
      const missing = await queryOn<{ statement: string }>(admin, missingRights(sql`${program.role}`));
      for (const { statement } of missing) await make(admin, rawSql(statement));
      await ensureLogin(program, admin).catch((error: unknown) => {
        throw refused('DATABASE_URL', urls.programUrl, error);
      });
    });
  } catch (error) {
    if (!(error instanceof Error) || error instanceof DatabaseError) throw error;
    if (!hasCode(error) || error.code !== SQLSTATE_INSUFFICIENT_PRIVILEGE)
      throw refused('DATABASE_SUPERUSER_URL', urls.superuserUrl, error);
    throw notProvisioned(
      `the role of DATABASE_SUPERUSER_URL is not a superuser: ${error.message}`,
      'Set DATABASE_SUPERUSER_URL to a superuser of the server',
      error,
    );
  }
}

/** The program's role may not change other roles. An operator's settings stay. */
async function provideReaders(admin: Client): Promise<void> {
  const [reader] = await queryOn<{ isUnlimited: boolean }>(
    admin,
    sql`SELECT rolconfig IS NULL AS "isUnlimited" FROM pg_roles WHERE rolname = ${READER_ROLE}`,
  );
  if (reader === undefined) await make(admin, sql`CREATE ROLE ${rawSql(READER_ROLE)} NOLOGIN`);
  else if (!reader.isUnlimited) return;
  await make(admin, sql`ALTER ROLE ${rawSql(READER_ROLE)} CONNECTION LIMIT 20`);
  await make(admin, sql`ALTER ROLE ${rawSql(READER_ROLE)} SET statement_timeout = '5min'`);
  await make(admin, sql`ALTER ROLE ${rawSql(READER_ROLE)} SET idle_in_transaction_session_timeout = '1min'`);
  const [server] = await queryOn<{ version: number }>(
    admin,
    sql`SELECT current_setting('server_version_num')::int AS version`,
  );
  if (server !== undefined && server.version >= SERVER_VERSION_WITH_TRANSACTION_TIMEOUT)
    await make(admin, sql`ALTER ROLE ${rawSql(READER_ROLE)} SET transaction_timeout = '10min'`);
}

/** For MCP_SQL and GRAPHQL. A role of that name that the operator made stays. */
async function provideReaderLogin(admin: Client, programUrl: string): Promise<void> {
  const { role, create } = readerLoginOf(readProgram(programUrl).database);
  const name = escapeIdentifier(role);
  const password = `PASSWORD ${escapeLiteral(readerPasswordOf(programUrl) ?? '')}`;
  const [login] = await queryOn<{ isOurs: boolean }>(
    admin,
    sql`SELECT shobj_description(oid, 'pg_authid') IS NOT DISTINCT FROM ${READER_LOGIN_COMMENT} AS "isOurs" FROM pg_roles WHERE rolname = ${role}`,
  );
  if (login === undefined)
    await make(
      admin,
      sql`${rawSql(create)} ${rawSql(password)}; COMMENT ON ROLE ${rawSql(name)} IS ${rawSql(escapeLiteral(READER_LOGIN_COMMENT))}`,
    );
  else if (login.isOurs)
    await make(
      admin,
      sql`ALTER ROLE ${rawSql(name)} ${rawSql(password)}; GRANT ${rawSql(READER_ROLE)} TO ${rawSql(name)}`,
    );
}

const READER_LOGIN_COMMENT = 'Made by chainstead provision';

/** Statements that a superuser has to run. */
function missingRights(role: Sql): Sql {
  return sql`${missingBounds(role)} UNION ALL ${missingPrivileges(role)}`;
}

/**
 * The job queue waits for advisory locks; temporary tables, large objects, WAL messages and files
 * fill the disk. Function privileges apply to one database.
 */
function missingBounds(role: Sql): Sql {
  return sql`SELECT format('REVOKE EXECUTE ON FUNCTION %1$s FROM PUBLIC; GRANT EXECUTE ON FUNCTION %1$s TO %2$I', oid::regprocedure, ${role}::text) AS statement
FROM pg_proc
WHERE pronamespace = 'pg_catalog'::regnamespace AND proname ~ '^pg_(try_)?advisory_'
  AND (has_function_privilege('public', oid, 'EXECUTE') OR NOT has_function_privilege(${role}, oid, 'EXECUTE'))
UNION ALL
SELECT format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', oid::regprocedure)
FROM pg_proc
WHERE pronamespace = 'pg_catalog'::regnamespace AND proname ~ '^(lo_(creat|create|from_bytea|open|put|truncate|truncate64)|lowrite|pg_logical_emit_message)$'
  AND has_function_privilege('public', oid, 'EXECUTE')
UNION ALL
SELECT format('REVOKE TEMPORARY ON DATABASE %1$I FROM PUBLIC; GRANT TEMPORARY ON DATABASE %1$I TO %2$I', current_database(), ${role}::text)
WHERE has_database_privilege('public', current_database(), 'TEMPORARY')
UNION ALL
SELECT format('ALTER DATABASE %I SET temp_file_limit = %L', current_database(), ${TEMP_FILE_LIMIT}::text)
WHERE NOT EXISTS (
  SELECT FROM pg_db_role_setting JOIN pg_database ON pg_database.oid = setdatabase, unnest(setconfig) AS setting
  WHERE datname = current_database() AND setrole = 0 AND setting LIKE 'temp_file_limit=%')
UNION ALL
SELECT format('ALTER ROLE %I IN DATABASE %I SET temp_file_limit = -1', ${role}::text, current_database())
WHERE NOT EXISTS (
  SELECT FROM pg_db_role_setting JOIN pg_roles ON pg_roles.oid = setrole JOIN pg_database ON pg_database.oid = setdatabase, unnest(setconfig) AS setting
  WHERE rolname = ${role} AND datname = current_database() AND setting LIKE 'temp_file_limit=%')`;
}

/** The schema is older than the role, or restored from a dump. */
function missingPrivileges(role: Sql): Sql {
  const reader = sql`${READER_ROLE}`;
  return sql`SELECT format('GRANT USAGE ON SCHEMA analytics TO %2$I; GRANT SELECT ON ALL TABLES IN SCHEMA analytics TO %2$I; ALTER DEFAULT PRIVILEGES FOR ROLE %1$I IN SCHEMA analytics GRANT SELECT ON TABLES TO %2$I', ${role}::text, ${reader}::text) AS statement
FROM pg_namespace WHERE nspname = 'analytics' AND NOT has_schema_privilege(${reader}, oid, 'USAGE')`;
}

type Program = ReturnType<typeof readProgram>;
function readProgram(url: string) {
  const target = parseConnectionString(url);
  const { user: role, password, database } = target;
  if (role === undefined || password === undefined)
    throw notProvisioned(
      'DATABASE_URL has no role or no password',
      'Set DATABASE_URL to postgres://role:password@host/database',
    );
  return { target, role, password, database };
}

/** The embedded server's password file may have been lost. */
async function ensureLogin({ target, role, password }: Program, admin: Client): Promise<void> {
  try {
    await withSession(target, APPLICATION_NAME, () => Promise.resolve());
  } catch (error) {
    if (!hasCode(error) || error.code !== SQLSTATE_INVALID_PASSWORD) throw error;
    await queryOn(
      admin,
      sql`ALTER ROLE ${rawSql(escapeIdentifier(role))} PASSWORD ${rawSql(escapeLiteral(password))}`,
    );
  }
}

async function make(admin: Client, statement: Sql): Promise<void> {
  try {
    await queryOn(admin, statement);
  } catch (error) {
    if (!hasCode(error) || !SQLSTATES_MADE_MEANWHILE.has(error.code)) throw error;
  }
}

function refused(setting: string, url: string, cause: unknown): DatabaseError {
  return notProvisioned(
    `${setting} (${redactConnectionString(url)}) can't be used: ${connectionProblem(cause)}`,
    `Check the host, role and password in ${setting}`,
    cause,
  );
}

function notProvisioned(reason: string, remedy: string, cause?: unknown): DatabaseError {
  return new DatabaseError({
    code: 'DATABASE_NOT_PROVISIONED',
    message: `The database can't be provisioned: ${reason}`,
    remedy,
    retryable: false,
    cause,
  });
}
