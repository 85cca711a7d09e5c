import { errorText, type Logger } from '@chainstead/core';
import { type ClientConfig, Pool, type PoolConfig } from 'pg';
import { createConnectionRoute } from './connection-route.ts';
import { type ConnectionTarget, parseConnectionString } from './connection-string.ts';
import { cutLostSessions } from './cut-lost-sessions.ts';
import { createPreparing } from './prepared-statements.ts';
import { SessionClient, SILENCE_SETTINGS } from './session-client.ts';

export interface ConnectionOptions {
  /** `postgres://user:password@host:port/database`; supports several hosts and libpq's TLS parameters. */
  readonly url: string;
  /** For connections that need their own server session, if `url` leads to a pooler in transaction mode. @default url */
  readonly sessionUrl?: string | null | undefined;
  /** Shown in `pg_stat_activity`. */
  readonly applicationName: string;
  /** Server settings by name. Not applied behind a pooler in transaction mode: other clients would get them too. */
  readonly settings?: Readonly<Record<string, string>>;
}

interface PoolOptions extends ConnectionOptions {
  /** Connections. */
  readonly size: number;
  /** {@link SessionClient.run} prepares statements. @default false */
  readonly prepared?: boolean;
  readonly logger: Logger;
}

/** An unconnected client for one session. */
export type OpenSession = (config?: ClientConfig) => SessionClient;

/** @throws {DatabaseError} DATABASE_URL_INVALID */
export function openPool(options: PoolOptions, config: PoolConfig = {}): Pool {
  const isShared = typeof options.sessionUrl === 'string' && options.sessionUrl !== options.url;
  const target = parseConnectionString(options.url);
  const pool = openPoolTo(target, { ...options, isShared }, config);
  // Connections of a pooler have no fixed session.
  if (!isShared)
    cutLostSessions(pool, {
      openSession: sessionsTo(target, { applicationName: 'chainstead look' }),
      logger: options.logger,
    });
  return pool;
}

/** As {@link openPool}. @param options.isShared a pooler in transaction mode is in between */
export function openPoolTo(
  target: ConnectionTarget,
  { isShared = false, ...options }: Omit<PoolOptions, 'url' | 'sessionUrl'> & { readonly isShared?: boolean },
  config: PoolConfig = {},
): Pool {
  const route = createConnectionRoute(target);
  const settings = isShared ? {} : { ...SILENCE_SETTINGS, ...options.settings };
  const preparing =
    options.prepared === true ? createPreparing({ isPooled: isShared, logger: options.logger }) : undefined;
  class PooledClient extends SessionClient {
    constructor(clientConfig?: ClientConfig) {
      super({ ...clientConfig, route, settings, preparing });
    }
  }
  const own = { application_name: options.applicationName, max: options.size, Client: PooledClient };
  const pool = new Pool({ ...config, ...own });
  // Without a listener, an idle connection that breaks would crash the process. The error contains the whole client.
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

/** As {@link sessionsOf}. */
export function sessionsTo(
  target: ConnectionTarget,
  options: Pick<ConnectionOptions, 'applicationName' | 'settings'>,
): OpenSession {
  const route = createConnectionRoute(target);
  const settings = { ...SILENCE_SETTINGS, ...options.settings };
  return (config) => new SessionClient({ ...config, application_name: options.applicationName, route, settings });
}
