import { readFileSync } from 'node:fs';
import type { ConnectionOptions } from 'node:tls';
import { errorText } from '@chainstead/core';
import { DatabaseError } from './database-error.ts';

/** What a connection string says, as libpq reads it. */
export interface ConnectionTarget {
  /** Tried in this order. */
  readonly hosts: readonly DatabaseHost[];
  readonly user: string | undefined;
  readonly password: string | undefined;
  readonly database: string;
  /** Ways to connect to a host, in the order in which they are tried: without TLS (false), or with it. */
  readonly encryption: readonly (false | ConnectionOptions)[];
  /** False where a server that takes no writes is good enough. */
  readonly readWrite: boolean;
  /** Server settings for the start of each connection: `-c name=value`. */
  readonly options: string | undefined;
  /** For one attempt at one host. Milliseconds. */
  readonly connectTimeoutMs: number;
}

export interface DatabaseHost {
  /** A name, an address, or a folder of Unix sockets. */
  readonly host: string;
  readonly port: number;
}

const HOST_NAME = /^(?:[\w.-]*|\[[\da-fA-F:.%]+\])$/;
const PORT = 5432;
const CONNECT_TIMEOUT_SECONDS = 10;
const SSL_MODES = ['disable', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full'] as const;
type SslMode = (typeof SSL_MODES)[number];
/** Those that say where a write goes; libpq's others would lead to a server that refuses it. */
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
 * Reads `postgres://user:password@host:port,host:port/database?parameters`. Of several hosts, the first that answers and takes
 * writes is used. Certificates and keys are read from the files that are named.
 * @throws {DatabaseError} DATABASE_URL_INVALID, which shows nothing of the password
 */
export function parseConnectionString(text: string): ConnectionTarget {
  const parts =
    /^postgres(?:ql)?:\/\/(?:(?<login>[^@/]*)@)?(?<hosts>[^/?#]*)(?:\/(?<name>[^?#]*))?(?:\?(?<query>.*))?$/s.exec(
      text.trim(),
    )?.groups;
  if (parts === undefined)
    throw invalid('it does not begin with postgres://', 'Write it as postgres://user:password@host:5432/database');
  const parameters = new Map(new URLSearchParams(parts.query ?? ''));
  const unknown = [...parameters.keys()].find((name) => !PARAMETERS.has(name));
  if (unknown !== undefined)
    throw invalid(`its parameter ${unknown} is unknown`, `Take it out; these are known: ${[...PARAMETERS].join(', ')}`);
  const [user, ...password] = (parts.login ?? '').split(':');
  const database = parameters.get('dbname') ?? decoded(parts.name ?? '');
  if (database === '')
    throw invalid('it names no database', 'Add the name after the host: postgres://user:password@host:5432/chainstead');
  const hosts = hostsOf(parameters.get('host') ?? decoded(parts.hosts ?? ''), parameters.get('port'));
  return {
    hosts,
    user: parameters.get('user') ?? (user === undefined || user === '' ? undefined : decoded(user)),
    password: parameters.get('password') ?? (password.length === 0 ? undefined : decoded(password.join(':'))),
    database,
    encryption: encryptionOf(parameters, hosts),
    readWrite: readWriteOf(parameters.get('target_session_attrs'), hosts),
    options: parameters.get('options'),
    connectTimeoutMs: timeoutOf(parameters.get('connect_timeout')),
  };
}

/** The same string without what is secret, for logs and messages. */
export function redactConnectionString(text: string): string {
  try {
    const { hosts } = parseConnectionString(text);
    return `postgres://${hosts.map(({ host, port }) => `${host.includes(':') ? `[${host}]` : host}:${port}`).join(',')}`;
  } catch {
    // Where it can't be read, nobody knows which part is the password.
    return '[not a database URL]';
  }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw invalid(
      'it has a % that begins no encoded character',
      'Write special characters of the user, password and name as %XX: % as %25, @ as %40, / as %2F',
    );
  }
}

/** `host:port,host:port`, ports also as a list of their own: one for all, or one for each. */
function hostsOf(list: string, ports: string | undefined): DatabaseHost[] {
  const portList = ports === undefined ? [] : ports.split(',');
  return (list === '' ? ['localhost'] : list.split(',')).map((entry, index) => {
    const isFolder = entry.startsWith('/');
    const [, name = '', given] = (isFolder ? null : /^(\[[^\]]+\]|[^:]*)(?::(\d*))?$/.exec(entry)) ?? [
      null,
      entry,
      undefined,
    ];
    // A special character of the password that was not encoded would end up in here, and in messages.
    if (!isFolder && !HOST_NAME.test(name))
      throw invalid(
        'a host has characters that no host has',
        'Write special characters of the user and password as %XX: % as %25, @ as %40, / as %2F; an IPv6 address in brackets',
      );
    const port = Number(given || portList[index] || portList[0] || PORT);
    if (!Number.isInteger(port) || port < 1 || port > 65_535) throw invalid(`${port} is no port`, 'Use 1 to 65535');
    return { host: name.replace(/^\[(.*)\]$/, '$1') || 'localhost', port };
  });
}

/** Several hosts without a word about it mean a primary and its standbys: without writes nothing here would work. */
function readWriteOf(attributes: string | undefined, hosts: readonly DatabaseHost[]): boolean {
  if (attributes === undefined) return hosts.length > 1;
  if (!SESSION_ATTRIBUTES.some((known) => known === attributes))
    throw invalid(
      `target_session_attrs=${attributes} is of no use here`,
      `Use one of: ${SESSION_ATTRIBUTES.join(', ')}`,
    );
  return attributes !== 'any';
}

function encryptionOf(
  parameters: ReadonlyMap<string, string>,
  hosts: readonly DatabaseHost[],
): readonly (false | ConnectionOptions)[] {
  const rootCertificate = parameters.get('sslrootcert');
  const mode = sslModeOf(parameters.get('sslmode'), rootCertificate);
  // Over Unix sockets Postgres has no TLS.
  if (mode === 'disable' || hosts.every(({ host }) => host.startsWith('/'))) return [false];
  const encrypted = { ...clientCertificate(parameters), ...verification(mode, rootCertificate) };
  if (mode === 'allow') return [false, encrypted];
  return mode === 'prefer' ? [encrypted, false] : [encrypted];
}

function sslModeOf(given: string | undefined, rootCertificate: string | undefined): SslMode {
  const mode = SSL_MODES.find(
    (known) => known === (given ?? (rootCertificate === 'system' ? 'verify-full' : 'prefer')),
  );
  if (mode === undefined) throw invalid(`sslmode=${given} is unknown`, `Use one of: ${SSL_MODES.join(', ')}`);
  if (rootCertificate === 'system' && mode !== 'verify-full')
    throw invalid(
      `sslrootcert=system needs sslmode=verify-full, not ${mode}`,
      'Anybody can have a certificate of a public authority',
    );
  if (mode === 'verify-ca' && rootCertificate === undefined)
    throw invalid(
      'sslmode=verify-ca needs sslrootcert',
      "Name the file with the authority's certificate, or use verify-full",
    );
  return mode;
}

/** As libpq: `require` looks at the certificate only where an authority is given. */
function verification(mode: SslMode, rootCertificate: string | undefined): ConnectionOptions {
  const ca =
    rootCertificate === undefined || rootCertificate === 'system' ? {} : { ca: read('sslrootcert', rootCertificate) };
  if (mode === 'verify-full') return { ...ca, rejectUnauthorized: true };
  const isVerified = mode === 'verify-ca' || (mode === 'require' && rootCertificate !== undefined);
  return isVerified
    ? { ...ca, rejectUnauthorized: true, checkServerIdentity: () => undefined }
    : { rejectUnauthorized: false };
}

function clientCertificate(parameters: ReadonlyMap<string, string>): ConnectionOptions {
  const [certificate, key] = [parameters.get('sslcert'), parameters.get('sslkey')];
  if ((certificate === undefined) !== (key === undefined))
    throw invalid('sslcert and sslkey belong together', 'Name both files, or neither');
  return certificate === undefined || key === undefined
    ? {}
    : { cert: read('sslcert', certificate), key: read('sslkey', key) };
}

function read(parameter: string, path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw invalid(
      `the file of ${parameter} can't be read: ${errorText(error)}`,
      'Check the path and its permissions',
      error,
    );
  }
}

function timeoutOf(seconds: string | undefined): number {
  const value = Number(seconds ?? CONNECT_TIMEOUT_SECONDS);
  if (!Number.isFinite(value) || value < 0)
    throw invalid(`connect_timeout=${seconds} is no number of seconds`, 'Use 10, say');
  return value * 1_000;
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
