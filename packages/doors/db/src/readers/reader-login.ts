import { createHmac } from 'node:crypto';
import { escapeIdentifier, escapeLiteral } from 'pg';
import { parseConnectionString } from '../connections/connection-string.ts';
import { queryOn } from '../connections/query-on.ts';
import { hasCode, withSession } from '../connections/with-session.ts';
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

export interface ReaderLoginOptions {
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
