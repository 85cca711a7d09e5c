import { readFileSync } from 'node:fs';
import type { ConnectionOptions } from 'node:tls';
import { errorText } from '@chainstead/core';
import { DatabaseError } from '../database-error.ts';

/** Parsed with libpq's semantics. */
export interface ConnectionTarget {
  readonly hosts: readonly DatabaseHost[];
  readonly user: string | undefined;
  readonly password: string | undefined;
  readonly database: string;
  /** In order of attempts; false: no TLS. */
  readonly encryption: readonly (false | ConnectionOptions)[];
  /** False: a read-only server will do. */
  readonly readWrite: boolean;
  readonly options: string | undefined;
  /** Per attempt and host. */
  readonly connectTimeoutMs: number;
}

export interface DatabaseHost {
  /** Or a folder of Unix sockets. */
  readonly host: string;
  readonly port: number;
}

const HOST_NAME = /^(?:[\w.-]*|\[[\da-fA-F:.%]+\])$/;
const PORT = 5432;
const CONNECT_TIMEOUT_SECONDS = 10;
const SSL_MODES = ['disable', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full'] as const;
type SslMode = (typeof SSL_MODES)[number];
const SESSION_ATTRIBUTES = ['any', 'read-write', 'primary'] as const;
const PARAMETERS = new Set([
  'application_name',
  'client_encoding',
  'connect_timeout',
  'dbname',
  'host',
  'options',
  'password',
  'port',
  'sslcert',
  'sslkey',
  'sslmode',
  'sslrootcert',
  'target_session_attrs',
  'user',
]);

/**
 * `postgres://user:password@host:port,host:port/database?parameters`. Uses the first writable host.
 * Reads certificate files. @throws {DatabaseError} DATABASE_URL_INVALID
 */
export function parseConnectionString(text: string): ConnectionTarget {
  const parts =
    /^postgres(?:ql)?:\/\/(?:(?<login>[^@/]*)@)?(?<hosts>[^/?#]*)(?:\/(?<name>[^?#]*))?(?:\?(?<query>.*))?$/s.exec(
      text.trim(),
    )?.groups;
  if (parts === undefined)
    throw invalid(
      'it does not begin with postgres://',
      'Use the form postgres://user:password@host:5432/database',
    );
  const parameters = new Map(new URLSearchParams(parts.query ?? ''));
  const unknown = [...parameters.keys()].find((name) => !PARAMETERS.has(name));
  if (unknown !== undefined)
    throw invalid(
      `its parameter ${unknown} is unknown`,
      `Remove it. Known parameters: ${[...PARAMETERS].join(', ')}`,
    );
  const [user, ...password] = (parts.login ?? '').split(':');
  const database = parameters.get('dbname') ?? decoded(parts.name ?? '');
  if (database === '')
    throw invalid(
      'it has no database name',
      'Add the name after the host: postgres://user:password@host:5432/chainstead',
    );
  const hosts = hostsOf(parameters.get('host') ?? decoded(parts.hosts ?? ''), parameters.get('port'));
  const timeout = parameters.get('connect_timeout');
  const timeoutSeconds = Number(timeout ?? CONNECT_TIMEOUT_SECONDS);
  if (!Number.isFinite(timeoutSeconds) || timeoutSeconds < 0)
    throw invalid(`connect_timeout=${timeout} is not a number of seconds`, 'Use a number such as 10');
  return {
    hosts,
    user: parameters.get('user') ?? (user === undefined || user === '' ? undefined : decoded(user)),
    password: parameters.get('password') ?? (password.length === 0 ? undefined : decoded(password.join(':'))),
    database,
    encryption: encryptionOf(parameters, hosts),
    readWrite: readWriteOf(parameters.get('target_session_attrs'), hosts),
    options: parameters.get('options'),
    connectTimeoutMs: timeoutSeconds * 1_000,
  };
}

/** Hosts and database name only. */
export function redactConnectionString(text: string): string {
  try {
    const { hosts, database } = parseConnectionString(text);
    const places = hosts.map(({ host, port }) => `${host.includes(':') ? `[${host}]` : host}:${port}`);
    // An unencoded / in the password would put a part of it into the name.
    const name = /^[\w-]+$/.test(database) ? `/${database}` : '';
    return `postgres://${places.join(',')}${name}`;
  } catch {
    // Any part of it may be the password.
    return '[not a database URL]';
  }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw invalid(
      'it has a % that does not start an encoded character',
      'Write special characters of the user, password and name as %XX: % as %25, @ as %40, / as %2F',
    );
  }
}

/** Ports may be a separate list: one for all hosts, or one each. */
function hostsOf(list: string, ports: string | undefined): DatabaseHost[] {
  const portList = ports === undefined ? [] : ports.split(',');
  return (list === '' ? ['localhost'] : list.split(',')).map((entry, index) => {
    const isFolder = entry.startsWith('/');
    const parts = isFolder ? null : /^(\[[^\]]+\]|[^:]*)(?::(\d*))?$/.exec(entry);
    const [, name = '', ownPort] = parts ?? [null, entry];
    // Otherwise a password with an unencoded character could appear here, and in messages.
    if (!isFolder && !HOST_NAME.test(name))
      throw invalid(
        'a host has invalid characters',
        'Write special characters of the user and password as %XX: % as %25, @ as %40, / as %2F. Write an IPv6 address in brackets',
      );
    const port = Number(ownPort || portList[index] || portList[0] || PORT);
    if (!Number.isInteger(port) || port < 1 || port > 65_535)
      throw invalid(`${port} is not a port`, 'Use 1 to 65535');
    return { host: name.replace(/^\[(.*)\]$/, '$1') || 'localhost', port };
  });
}

/** Several hosts are a primary and standbys: the writable one is needed. */
function readWriteOf(attributes: string | undefined, hosts: readonly DatabaseHost[]): boolean {
  if (attributes === undefined) return hosts.length > 1;
  const supported = `Use one of: ${SESSION_ATTRIBUTES.join(', ')}`;
  if (!SESSION_ATTRIBUTES.some((value) => value === attributes))
    throw invalid(`target_session_attrs=${attributes} is not supported`, supported);
  return attributes !== 'any';
}

function encryptionOf(
  parameters: ReadonlyMap<string, string>,
  hosts: readonly DatabaseHost[],
): readonly (false | ConnectionOptions)[] {
  const rootCertificate = parameters.get('sslrootcert');
  const mode = sslModeOf(parameters.get('sslmode'), rootCertificate);
  // Postgres has no TLS over Unix sockets.
  if (mode === 'disable' || hosts.every(({ host }) => host.startsWith('/'))) return [false];
  const encrypted = { ...clientCertificate(parameters), ...verification(mode, rootCertificate) };
  if (mode === 'allow') return [false, encrypted];
  return mode === 'prefer' ? [encrypted, false] : [encrypted];
}

function sslModeOf(sslMode: string | undefined, rootCertificate: string | undefined): SslMode {
  const wanted = sslMode ?? (rootCertificate === 'system' ? 'verify-full' : 'prefer');
  const mode = SSL_MODES.find((name) => name === wanted);
  if (mode === undefined) throw invalid(`sslmode=${sslMode} is unknown`, `Use one of: ${SSL_MODES.join(', ')}`);
  if (rootCertificate === 'system' && mode !== 'verify-full')
    throw invalid(
      `sslrootcert=system needs sslmode=verify-full, not ${mode}`,
      'Set sslmode=verify-full. Anyone can get a certificate from a public authority',
    );
  if (mode === 'verify-ca' && rootCertificate === undefined)
    throw invalid(
      'sslmode=verify-ca needs sslrootcert',
      'Set sslrootcert to the file with the CA certificate, or use verify-full',
    );
  return mode;
}

/** Like libpq: `require` verifies only with a given authority. */
function verification(mode: SslMode, rootCertificate: string | undefined): ConnectionOptions {
  const ca =
    rootCertificate === undefined || rootCertificate === 'system'
      ? {}
      : { ca: read('sslrootcert', rootCertificate) };
  if (mode === 'verify-full') return { ...ca, rejectUnauthorized: true };
  const isVerified = mode === 'verify-ca' || (mode === 'require' && rootCertificate !== undefined);
  return isVerified
    ? { ...ca, rejectUnauthorized: true, checkServerIdentity: () => undefined }
    : { rejectUnauthorized: false };
}

function clientCertificate(parameters: ReadonlyMap<string, string>): ConnectionOptions {
  const [certificate, key] = [parameters.get('sslcert'), parameters.get('sslkey')];
  if ((certificate === undefined) !== (key === undefined))
    throw invalid('sslcert and sslkey belong together', 'Set both files, or neither');
  return certificate === undefined || key === undefined
    ? {}
    : { cert: read('sslcert', certificate), key: read('sslkey', key) };
}

function read(parameter: string, path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    const problem = `the file of ${parameter} can't be read: ${errorText(error)}`;
    throw invalid(problem, 'Check the path and its permissions', error);
  }
}

function invalid(what: string, remedy: string, cause?: unknown): DatabaseError {
  return new DatabaseError({
    code: 'DATABASE_URL_INVALID',
    message: `The database URL can't be used: ${what}`,
    facts: { problem: what },
    remedy,
    retryable: false,
    ...(cause === undefined ? {} : { cause }),
  });
}
