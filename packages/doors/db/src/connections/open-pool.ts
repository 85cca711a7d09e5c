import { errorText, type Logger } from '@chainstead/core';
import { type ClientConfig, Pool, type PoolConfig } from 'pg';
import { createConnectionRoute } from './connection-route.ts';
import { type ConnectionTarget, parseConnectionString } from './connection-string.ts';
import { cutLostSessions } from './cut-lost-sessions.ts';
import { createPreparing } from './prepared-statements.ts';
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
