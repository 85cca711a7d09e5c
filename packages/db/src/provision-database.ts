import { Client, escapeLiteral } from 'pg';

/** The embedded server's superuser, as initdb makes it. */
export const SUPERUSER = 'postgres';
/** The role that the program works as: owns its database, and nothing else of the server. */
const PROGRAM_ROLE = 'chainstead';
const READER_ROLE = 'chainstead_reader';
const DATABASE = 'chainstead';
/** Extensions that the schema needs, which only a superuser may create on every server. */
const EXTENSION = 'btree_gist';

const CONNECT_TIMEOUT_MS = 10_000;
const SQLSTATE_INVALID_PASSWORD = '28P01';
/** Two processes at once: the other's role, database or extension is as good, and so are its changes of a role (XX000). */
const SQLSTATES_MADE_MEANWHILE: ReadonlySet<unknown> = new Set(['42710', '42P04', '23505', 'XX000']);

/** The embedded server as its own process reaches it. */
export interface ProvisionedServer {
  readonly port: number;
  readonly passwords: { readonly superuser: string; readonly program: string };
}

/** The database `chainstead` as the program's role. */
export function programUrl({ port, passwords }: ProvisionedServer): string {
  return `postgres://${PROGRAM_ROLE}:${passwords.program}@127.0.0.1:${port}/${DATABASE}`;
}

/** @param database @default the server's own, `postgres` */
export function superuserUrl({ port, passwords }: ProvisionedServer, database = 'postgres'): string {
  return `postgres://${SUPERUSER}:${passwords.superuser}@127.0.0.1:${port}/${database}`;
}

/**
 * Makes what the program finds in its server: its role, its database, the extension, the readers' role, and advisory locks for
 * the program's role alone. Changes nothing if all is in place.
 */
export async function provisionDatabase(server: ProvisionedServer): Promise<void> {
  await withClient(superuserUrl(server), async (admin) => {
    const [role] = await rowsOf(admin, 'SELECT 1 FROM pg_roles WHERE rolname = $1', [PROGRAM_ROLE]);
    // With its password at once: looking later whether it can log in would fail, and the server log that.
    if (role === undefined)
      await make(admin, `CREATE ROLE ${PROGRAM_ROLE} LOGIN PASSWORD ${escapeLiteral(server.passwords.program)}`);
    await provideReaders(admin);
    const [database] = await rowsOf(admin, 'SELECT 1 FROM pg_database WHERE datname = $1', [DATABASE]);
    if (database === undefined) await make(admin, `CREATE DATABASE ${DATABASE} OWNER ${PROGRAM_ROLE}`);
  });
  await withClient(superuserUrl(server, DATABASE), async (admin) => {
    const [extension] = await rowsOf(admin, 'SELECT 1 FROM pg_extension WHERE extname = $1', [EXTENSION]);
    if (extension === undefined) await make(admin, `CREATE EXTENSION ${EXTENSION}`);
    await keepAdvisoryLocks(admin);
    await ensureLogin(server, admin);
  });
}

/** What its migration can't limit, since the program's role may not change other roles. An operator's settings are left alone. */
async function provideReaders(admin: Client): Promise<void> {
  const find = 'SELECT rolconfig IS NULL AS "isUnlimited" FROM pg_roles WHERE rolname = $1';
  const [reader] = await rowsOf<{ isUnlimited: boolean }>(admin, find, [READER_ROLE]);
  if (reader === undefined) await make(admin, `CREATE ROLE ${READER_ROLE} NOLOGIN`);
  else if (!reader.isUnlimited) return;
  await make(admin, `ALTER ROLE ${READER_ROLE} CONNECTION LIMIT 20`);
  await make(admin, `ALTER ROLE ${READER_ROLE} SET statement_timeout = '5min'`);
  await make(admin, `ALTER ROLE ${READER_ROLE} SET idle_in_transaction_session_timeout = '1min'`);
}

/**
 * The job queue waits for advisory locks, which any role might hold otherwise. Rights to functions are of one database, and so
 * are the locks: a role that takes one from another database is in nobody's way.
 */
async function keepAdvisoryLocks(admin: Client): Promise<void> {
  const statements = await rowsOf<{ statement: string }>(admin, ADVISORY_LOCKS_SQL, [PROGRAM_ROLE]);
  for (const { statement } of statements) await make(admin, statement);
}

const ADVISORY_LOCKS_SQL = `
SELECT format('REVOKE EXECUTE ON FUNCTION %1$s FROM PUBLIC; GRANT EXECUTE ON FUNCTION %1$s TO %2$I', oid::regprocedure, $1::text) AS statement
FROM pg_proc
WHERE pronamespace = 'pg_catalog'::regnamespace AND proname ~ '^pg_(try_)?advisory_'
  AND (has_function_privilege('public', oid, 'EXECUTE') OR NOT has_function_privilege($1, oid, 'EXECUTE'))`;

/** The password in the folder is the one that counts: the file may have been lost and made anew. */
async function ensureLogin(server: ProvisionedServer, admin: Client): Promise<void> {
  try {
    await withClient(programUrl(server), () => Promise.resolve());
  } catch (error) {
    if (!hasCode(error) || error.code !== SQLSTATE_INVALID_PASSWORD) throw error;
    await admin.query(`ALTER ROLE ${PROGRAM_ROLE} PASSWORD ${escapeLiteral(server.passwords.program)}`);
  }
}

async function make(admin: Client, statement: string): Promise<void> {
  try {
    await admin.query(statement);
  } catch (error) {
    if (!hasCode(error) || !SQLSTATES_MADE_MEANWHILE.has(error.code)) throw error;
  }
}

async function rowsOf<Row extends object = object>(
  client: Client,
  text: string,
  values: readonly unknown[] = [],
): Promise<Row[]> {
  return (await client.query<Row>(text, [...values])).rows;
}

async function withClient(connectionString: string, work: (client: Client) => Promise<void>): Promise<void> {
  const client = new Client({ connectionString, connectionTimeoutMillis: CONNECT_TIMEOUT_MS });
  // A server that ends meanwhile fails the query too; without a listener it would end the process.
  client.on('error', () => undefined);
  try {
    await client.connect();
    await work(client);
  } finally {
    await client.end();
  }
}

function hasCode(error: unknown): error is Error & { readonly code: unknown } {
  return error instanceof Error && 'code' in error;
}
