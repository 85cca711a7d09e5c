import type { ConnectionOptions } from 'node:tls';
import { errorText } from '@chainstead/core';
import { Client, type ClientConfig } from 'pg';
import { DatabaseError } from '../database-error.ts';
import type { ConnectionTarget, DatabaseHost } from './connection-string.ts';

export interface Way {
  readonly host: DatabaseHost;
  readonly encryption: false | ConnectionOptions;
}

/** Shared: only the first connection searches. */
export interface ConnectionRoute {
  readonly target: ConnectionTarget;
  /** @throws {DatabaseError} DATABASE_HOSTS_UNUSABLE; for a single host, its own error */
  find(): Promise<Way>;
  /** The next connection searches again: another server may have taken over. */
  forget(way: Way): void;
}

export function createConnectionRoute(target: ConnectionTarget): ConnectionRoute {
  const ways = target.hosts.flatMap((host) => target.encryption.map((encryption) => ({ host, encryption })));
  const [only] = ways;
  if (only !== undefined && ways.length === 1 && !target.readWrite)
    return { target, find: async () => only, forget: () => {} };
  let searching: Promise<Way> | undefined;
  let usable: Way | undefined;
  const search = async (): Promise<Way> => {
    try {
      usable = await firstUsable(target, ways);
      return usable;
    } catch (error) {
      searching = undefined;
      throw error;
    }
  };
  return {
    target,
    find() {
      searching ??= search();
      return searching;
    },
    forget(way) {
      if (way === usable) usable = searching = undefined;
    },
  };
}

export function clientConfigOf(target: ConnectionTarget): ClientConfig {
  const { user, password, options } = target;
  return {
    ...(user !== undefined && { user }),
    ...(password !== undefined && { password }),
    ...(options !== undefined && { options }),
    database: target.database,
    ssl: false,
    connectionTimeoutMillis: target.connectTimeoutMs,
  };
}

export function lead(client: Client, { host, encryption }: Way): void {
  Object.assign(client, { host: host.host, port: host.port, ssl: encryption });
  Object.assign(client.connection, { ssl: encryption });
}

async function firstUsable(target: ConnectionTarget, ways: readonly Way[]): Promise<Way> {
  const refusals: { readonly way: Way; readonly error: unknown }[] = [];
  for (const way of ways) {
    // A host that refuses the socket is not tried without encryption.
    const isSocketError = (error: unknown): boolean => error instanceof Error && 'syscall' in error;
    if (refusals.some((refusal) => refusal.way.host === way.host && isSocketError(refusal.error))) continue;
    try {
      await look(target, way);
      return way;
    } catch (error) {
      refusals.push({ way, error });
    }
  }
  const reporting = refusals.filter(({ error }) => !errorText(error).includes('does not support SSL'));
  const [first] = reporting.length === 0 ? refusals : reporting;
  if (target.hosts.length === 1 && first !== undefined && !(first.error instanceof DatabaseError))
    throw first.error;
  throw new DatabaseError({
    code: 'DATABASE_HOSTS_UNUSABLE',
    message: `No host in the database URL is usable: ${refusals.map(({ way, error }) => `${way.host.host}:${way.host.port} (${errorText(error)})`).join(', ')}`,
    facts: { hosts: target.hosts.map(({ host, port }) => `${host}:${port}`) },
    remedy: 'Add a primary that accepts writes, or set target_session_attrs=any to allow any server',
    retryable: true,
    cause: first?.error,
  });
}

async function look(target: ConnectionTarget, way: Way): Promise<void> {
  const client = new Client({ ...clientConfigOf(target), application_name: 'chainstead search' });
  client.on('error', () => {});
  lead(client, way);
  try {
    await client.connect();
    if (target.readWrite) await requireWritable(client);
  } finally {
    client.connection.stream.destroy();
  }
}

async function requireWritable(client: Client): Promise<void> {
  const { rows } = await client.query<{ writable: boolean }>(
    `SELECT NOT pg_is_in_recovery() AND current_setting('default_transaction_read_only') = 'off' AS writable`,
  );
  if (rows[0]?.writable === true) return;
  throw new DatabaseError({
    code: 'DATABASE_READ_ONLY',
    message: 'the server accepts no writes',
    retryable: true,
  });
}
