import { errorText, type Logger } from '@chainstead/core';
import { type Client, type ClientConfig, Pool, type PoolConfig } from 'pg';
import { sql } from '../sql.ts';
import { createConnectionRoute } from './connection-route.ts';
import { type ConnectionTarget, parseConnectionString } from './connection-string.ts';
import { createPreparing } from './prepared-statements.ts';
import { queryOn } from './query-on.ts';
import { SessionClient } from './session-client.ts';

export interface ConnectionOptions {
  /** Supports several hosts and libpq's TLS parameters. */
  readonly url: string;
  /** For connections that need a session, if `url` is a pooler in transaction mode. @default url */
  readonly sessionUrl?: string | null | undefined;
  readonly applicationName: string;
  /** Not applied behind a pooler in transaction mode: other clients would get them. */
  readonly settings?: Readonly<Record<string, string>>;
}

interface PoolOptions extends ConnectionOptions {
  readonly size: number;
  /** Prepares {@link SessionClient.run}'s statements. @default false */
  readonly prepared?: boolean;
  readonly logger: Logger;
}

const PREPARED_IDLE_MS = 5 * 60_000;

export type OpenSession = (config?: ClientConfig) => SessionClient;

/** @throws {DatabaseError} DATABASE_URL_INVALID */
export function openPool(options: PoolOptions, config: PoolConfig = {}): Pool {
  const isShared = typeof options.sessionUrl === 'string' && options.sessionUrl !== options.url;
  const target = parseConnectionString(options.url);
  const pool = openPoolTo(target, { ...options, isShared }, config);
  // A pooler's connections have no fixed session.
  if (!isShared)
    cutLostSessions(pool, {
      openSession: sessionsTo(target, { applicationName: 'chainstead look' }),
      logger: options.logger,
    });
  return pool;
}

/** @param options.isShared behind a pooler in transaction mode */
export function openPoolTo(
  target: ConnectionTarget,
  { isShared = false, ...options }: Omit<PoolOptions, 'url' | 'sessionUrl'> & { readonly isShared?: boolean },
  config: PoolConfig = {},
): Pool {
  const route = createConnectionRoute(target);
  const preparing =
    options.prepared === true ? createPreparing({ isPooled: isShared, logger: options.logger }) : undefined;
  class PooledClient extends SessionClient {
    constructor(clientConfig?: ClientConfig) {
      super({ ...clientConfig, route, settings: options.settings, isShared, preparing });
    }
  }
  const own = { application_name: options.applicationName, max: options.size, Client: PooledClient };
  // A new connection plans every statement again.
  const idle = preparing === undefined ? {} : { idleTimeoutMillis: PREPARED_IDLE_MS };
  const pool = new Pool({ ...idle, ...config, ...own });
  // Without a listener, a broken idle connection would crash the process.
  const application = options.applicationName;
  pool.on('error', (error) =>
    options.logger.debug({ error: errorText(error), application }, 'Idle database connection lost'),
  );
  return pool;
}

/** @throws {DatabaseError} DATABASE_URL_INVALID */
export function sessionsOf(options: ConnectionOptions): OpenSession {
  return sessionsTo(parseConnectionString(options.sessionUrl ?? options.url), options);
}

export function sessionsTo(
  target: ConnectionTarget,
  options: Pick<ConnectionOptions, 'applicationName' | 'settings'>,
): OpenSession {
  const route = createConnectionRoute(target);
  const { applicationName, settings } = options;
  return (config) => new SessionClient({ ...config, application_name: applicationName, route, settings });
}

/** A connection in use for longer may wait for a server that it no longer reaches. */
const SUSPECT_AFTER_MS = 5_000;
const LOOK_EVERY_MS = 10_000;
const LOOK_TIMEOUT_MS = 4_500;

interface LostSessionsOptions {
  readonly openSession: (config: ClientConfig) => SessionClient;
  readonly logger: Logger;
}

/**
 * A proxy that switches servers may leave connections hanging, alive for both kernels: a new one
 * checks which sessions exist. Not behind a balancer.
 */
function cutLostSessions(pool: Pool, { openSession, logger }: LostSessionsOptions): void {
  const connected = new Set<SessionClient>();
  const inUse = new Map<object, number>();
  let isLooking = false;

  function lookLater(): void {
    if (isLooking) return;
    isLooking = true;
    setTimeout(() => void look(), LOOK_EVERY_MS).unref();
  }

  async function look(): Promise<void> {
    const suspectFrom = performance.now() - SUSPECT_AFTER_MS;
    const isSuspect = (client: object): boolean => (inUse.get(client) ?? Number.POSITIVE_INFINITY) <= suspectFrom;
    if ([...inUse.keys()].some(isSuspect))
      try {
        const lost = lostWith(await findMissing(), isSuspect);
        if (lost.length > 0) logger.warn({ connections: lost.length }, LOST);
        for (const client of lost) client.destroy();
      } catch (error) {
        logger.debug({ error: errorText(error) }, 'It could not be asked which sessions the server has');
      }
    isLooking = false;
    if (inUse.size > 0) lookLater();
  }

  async function findMissing(): Promise<readonly SessionClient[]> {
    const clients = [...connected].filter(({ backend }) => backend !== null);
    const asking = openSession({ query_timeout: LOOK_TIMEOUT_MS });
    try {
      await asking.connect();
      const backends = clients.map(({ backend }) => backend);
      const rows = await queryOn<{ pid: number }>(
        asking,
        sql`SELECT pid FROM pg_stat_activity WHERE pid = ANY (${backends}::int[])`,
      );
      const present = new Set<number | null>(rows.map(({ pid }) => pid));
      return clients.filter((client) => client.goesAs(asking) && !present.has(client.backend));
    } finally {
      asking.destroy();
    }
  }

  pool.on('connect', (client) => {
    if (client instanceof SessionClient) connected.add(client);
  });
  pool.on('remove', (client) => {
    if (client instanceof SessionClient) connected.delete(client);
    inUse.delete(client);
  });
  pool.on('acquire', (client) => {
    inUse.set(client, performance.now());
    lookLater();
  });
  pool.on('release', (_error, client) => inUse.delete(client));
}

/** All, if one of them is in use: sessions of closing idle connections are missing too. */
export function lostWith<C extends object>(
  missing: readonly C[],
  isSuspect: (client: C) => boolean,
): readonly C[] {
  return missing.some(isSuspect) ? missing : [];
}

const LOST =
  'Connections lead to a server that new ones do not lead to any more: they are cut, and what waits for them is tried again';

/** @throws `pg`'s error if the server refuses */
export async function withSession<T>(
  target: ConnectionTarget,
  applicationName: string,
  work: (client: Client) => Promise<T>,
): Promise<T> {
  const client = sessionsTo(target, { applicationName })();
  try {
    await client.connect();
    return await work(client);
  } finally {
    await client.end();
  }
}

export function hasCode(error: unknown): error is Error & { readonly code: unknown } {
  return error instanceof Error && 'code' in error;
}
