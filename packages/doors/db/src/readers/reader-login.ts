import { createHmac } from 'node:crypto';
import { type ClientBase, escapeIdentifier, escapeLiteral, type QueryResultRow } from 'pg';
import { parseConnectionString } from '../connections/connection-string.ts';
import { hasCode, withSession } from '../connections/open-pool.ts';
import { queryOn } from '../connections/query-on.ts';
import { DatabaseError } from '../database-error.ts';
import { sql } from '../sql.ts';

const APPLICATION_NAME = 'chainstead reader role';

export const READER_ROLE = 'chainstead_reader';
/** All processes share them. */
const CONNECTIONS_MAX = 120;
const ROLE_ENDING = '_analyst';
const NAME_LENGTH_MAX = 63;
const SQLSTATE_INVALID_PASSWORD = '28P01';
const SQLSTATE_INSUFFICIENT_PRIVILEGE = '42501';
const SQLSTATES_MADE_MEANWHILE: ReadonlySet<unknown> = new Set(['42710', '23505', 'XX000']);

interface ReaderLoginOptions {
  readonly url: string;
  readonly makerUrl: string;
  readonly password: string;
}

/** The role, as the statement that creates it. @param database its name */
export function readerLoginOf(database: string) {
  const role = `${database.slice(0, NAME_LENGTH_MAX - ROLE_ENDING.length)}${ROLE_ENDING}`;
  const create = `CREATE ROLE ${escapeIdentifier(role)} LOGIN CONNECTION LIMIT ${CONNECTIONS_MAX} IN ROLE ${READER_ROLE}`;
  return { role, create };
}

/** Known to `provision` before the database has tables, and to every process. Null: the URL has no password. */
export function readerPasswordOf(programUrl: string): string | null {
  const { password } = parseConnectionString(programUrl);
  return password === undefined ? null : createHmac('sha256', password).update(READER_ROLE).digest('base64url');
}

/** @returns the database's URL with the role @throws {DatabaseError} READER_ROLE_MISSING */
export async function provideReaderLogin(options: ReaderLoginOptions): Promise<string> {
  const { url, makerUrl, password } = options;
  const { database } = parseConnectionString(url);
  const { role, create } = readerLoginOf(database);
  const loginUrl = withLogin(url, role, password);
  await withSession(parseConnectionString(makerUrl), APPLICATION_NAME, async (maker) => {
    const roles = await queryOn(maker, sql`SELECT FROM pg_roles WHERE rolname = ${role}`);
    const name = escapeIdentifier(role);
    try {
      if (roles.length === 0) await maker.query(`${create} PASSWORD ${escapeLiteral(password)}`);
      else if (!(await accepts(loginUrl)))
        await maker.query(`ALTER ROLE ${name} PASSWORD ${escapeLiteral(password)}`);
    } catch (error) {
      if (!hasCode(error) || SQLSTATES_MADE_MEANWHILE.has(error.code)) return;
      throw error.code === SQLSTATE_INSUFFICIENT_PRIVILEGE ? mayNotCreate(create, error) : error;
    }
  });
  return loginUrl;
}

function mayNotCreate(create: string, cause: Error): DatabaseError {
  return new DatabaseError({
    code: 'READER_ROLE_MISSING',
    message: `MCP_SQL and GRAPHQL need a role that can only read, and the role of DATABASE_URL may not create it: ${cause.message}`,
    remedy: `Run \`chainstead provision\` with DATABASE_SUPERUSER_URL. Or run as a superuser: ${create} PASSWORD '…'. Then set DATABASE_ANALYST_URL to the URL of the database with this role`,
    retryable: false,
    cause,
  });
}

/** Parameters would take precedence. */
function withLogin(url: string, user: string, password: string): string {
  const [place = '', query = ''] = url.trim().split(/\?(.*)/s);
  const parameters = new URLSearchParams(query);
  parameters.delete('user');
  parameters.delete('password');
  const login = `${encodeURIComponent(user)}:${encodeURIComponent(password)}`;
  const shown = parameters.size === 0 ? '' : `?${parameters}`;
  return `${place.replace(/^(postgres(?:ql)?:\/\/)(?:[^@/]*@)?/, `$1${login}@`)}${shown}`;
}

async function accepts(url: string): Promise<boolean> {
  try {
    await withSession(parseConnectionString(url), APPLICATION_NAME, () => Promise.resolve());
    return true;
  } catch (error) {
    if (hasCode(error) && error.code === SQLSTATE_INVALID_PASSWORD) return false;
    throw error;
  }
}

/** Null: safe for clients' queries, also after `set_config('role', …)`. */
export async function excessRights(client: Pick<ClientBase, 'query'>): Promise<string | null> {
  type Rights = { readonly login: string; readonly roles: string | null; readonly relations: string | null };
  const [rights] = await runAlone<Rights>(client, RIGHTS_SQL);
  if (rights === undefined || rights.roles !== null)
    return `The role ${rights?.login ?? ''} is a superuser, or a member of: ${rights?.roles ?? ''}`;
  return rights.relations === null
    ? null
    : `The role ${rights.login} may change, or read outside of the schemas analytics and contracts: ${rights.relations}`;
}

/** Extensions' relations, such as pg_stat_statements, are readable by all. */
const RIGHTS_SQL = `
WITH reachable AS MATERIALIZED (
  SELECT oid, rolname, rolsuper OR rolcreaterole OR rolcreatedb OR rolreplication OR rolbypassrls OR rolname LIKE 'pg\\_%' AS is_powerful
  FROM pg_catalog.pg_roles WHERE pg_catalog.pg_has_role(session_user, oid, 'MEMBER')
), relation AS MATERIALIZED (
  SELECT c.oid, n.nspname IN ('analytics', 'contracts') AS is_offered
  FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
  WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND n.nspname <> 'information_schema' AND n.nspname NOT LIKE 'pg\\_%'
    AND NOT EXISTS (SELECT FROM pg_catalog.pg_depend d WHERE d.classid = 'pg_catalog.pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'e')
), excess AS (
  SELECT DISTINCT r.oid::regclass::text AS name
  FROM relation r, reachable
  WHERE NOT is_powerful AND (
    has_table_privilege(reachable.oid, r.oid, 'INSERT, UPDATE, DELETE, TRUNCATE, REFERENCES, TRIGGER')
    OR has_any_column_privilege(reachable.oid, r.oid, 'INSERT, UPDATE, REFERENCES')
    OR (NOT is_offered AND (has_table_privilege(reachable.oid, r.oid, 'SELECT') OR has_any_column_privilege(reachable.oid, r.oid, 'SELECT'))))
  LIMIT 5
)
SELECT session_user::text AS login,
  (SELECT string_agg(rolname, ', ' ORDER BY rolname) FROM reachable WHERE is_powerful) AS roles,
  (SELECT string_agg(name, ', ' ORDER BY name) FROM excess) AS relations`;

/** The extended protocol refuses several statements, unlike the driver's default. */
export async function runAlone<Row extends QueryResultRow>(
  client: Pick<ClientBase, 'query'>,
  text: string,
): Promise<Row[]> {
  const query = { text, queryMode: 'extended' };
  return (await client.query<Row>(query)).rows;
}
