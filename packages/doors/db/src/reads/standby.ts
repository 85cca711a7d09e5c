import { errorText, type Logger, sleepUnlessAborted, systemClock } from '@chainstead/core';
import type { PoolClient, PoolConfig } from 'pg';
import { columnParsers } from '../columns/column-parsers.ts';
import { type End, onClient } from '../connections/connection-metrics.ts';
import type { ConnectionTarget } from '../connections/connection-string.ts';
import { openPoolTo, sessionsTo } from '../connections/open-pool.ts';
import { queryOn } from '../connections/query-on.ts';
import { SessionClient } from '../connections/session-client.ts';
import { DatabaseError } from '../database-error.ts';
import { type ConnectionRoom, readConnectionRoom } from '../server/connection-room.ts';
import { type Sql, sql } from '../sql.ts';
import { laterOf, parseWalPosition, type WalPosition } from './wal-position.ts';

interface StandbyOptions {
  readonly target: ConnectionTarget;
  /** The primary's, which a copy shares. */
  readonly clusterId: string;
  readonly applicationName: string;
  /** Connections, plus one that reads the position. */
  readonly poolSize: number;
  readonly prepared: boolean;
  readonly settings: Readonly<Record<string, string>>;
  readonly onRoom: (host: string, room: ConnectionRoom) => void;
  readonly logger: Logger;
}

const LOOK_EVERY_MS = 150;
const LOOK_AGAIN_MS = 1_000;
const SILENCE_MS = 3_000;

export type Standby = ReturnType<typeof createStandby>;

// biome-ignore lint/complexity/noExcessiveLinesPerFunction: position, session and clients of one server are one state.
export function createStandby(options: StandbyOptions) {
  const { clusterId, onRoom, applicationName, logger } = options;
  const target = { ...options.target, connectTimeoutMs: Math.min(options.target.connectTimeoutMs, SILENCE_MS) };
  const host = target.hosts
    .map(({ host: name, port }) => `${name.includes(':') ? `[${name}]` : name}:${port}`)
    .join(',');
  const clients = new Set<SessionClient>();
  const openSession = sessionsTo(target, { applicationName });
  const config: PoolConfig = { types: columnParsers, pipeline: true };
  const pool = openPoolTo(target, { ...options, size: options.poolSize }, config);
  pool.on('connect', (client) => {
    if (client instanceof SessionClient) clients.add(client);
  });
  pool.on('remove', (client) => {
    if (client instanceof SessionClient) clients.delete(client);
  });
  let replayed: WalPosition | null = null;
  let lastReplayed: WalPosition | null = null;
  let session: SessionClient | null = null;
  let looking: Promise<void> | null = null;
  let isAway: boolean | null = null;
  let isClosed = false;

  async function lookOnce(): Promise<void> {
    if (isClosed) return;
    try {
      session ??= await connect();
      const [state] = await queryOn<{ follows: boolean; replayed: string | null }>(
        session,
        sql`SELECT pg_is_in_recovery() AS follows, pg_last_wal_replay_lsn()::text AS replayed`,
      );
      if (state?.follows !== true || state.replayed === null) throw noStandby();
      setReached(parseWalPosition(state.replayed));
    } catch (error) {
      if (!isClosed) setLost(error);
    }
  }

  /** @throws {DatabaseError} DATABASE_OTHER_CLUSTER */
  async function connect(): Promise<SessionClient> {
    const opened = openSession({ types: columnParsers, query_timeout: SILENCE_MS });
    try {
      await opened.connect();
      const query = <Row extends object>(statement: Sql) => queryOn<Row>(opened, statement);
      const [cluster] = await query<{ id: string }>(
        sql`SELECT system_identifier::text AS id FROM pg_control_system()`,
      );
      if (cluster?.id !== clusterId) throw otherCluster(host);
      onRoom(host, await readConnectionRoom({ query }, applicationName));
      return opened;
    } catch (error) {
      opened.destroy();
      throw error;
    }
  }

  function setReached(position: WalPosition): void {
    lastReplayed = position;
    // May be lower after a restart.
    replayed = position;
    if (isAway !== false) logger.info({ host }, 'Reads go to the standby');
    isAway = false;
  }

  function setLost(error: unknown): void {
    session?.destroy();
    session = null;
    replayed = null;
    // Otherwise reads would wait for the kernel's timeout.
    for (const client of clients) client.destroy();
    if (isAway !== true) {
      const isPrimary = error instanceof DatabaseError && error.code === 'DATABASE_NO_STANDBY';
      const facts = { host, error: errorText(error) };
      logger[isPrimary ? 'info' : 'warn'](facts, 'The standby can not be read from: reads go elsewhere');
    }
    isAway = true;
  }

  function look(): Promise<void> {
    looking ??= lookOnce().finally(() => {
      looking = null;
    });
    return looking;
  }

  return {
    host,
    /** Null while it can't be read from. */
    get replayed() {
      return replayed;
    },
    get lastReplayed() {
      return lastReplayed;
    },
    /** @throws errors of connection and statement; then consider `doubt` */
    async read<Row extends object>(
      text: string,
      values: readonly unknown[],
      end?: End,
    ): Promise<StandbyRead<Row>> {
      const work = (client: PoolClient) => {
        if (!(client instanceof SessionClient)) throw new TypeError('A pool gave a client of another kind');
        return readOnStandby<Row>(client, text, values);
      };
      const read = await onClient(pool, work, end);
      if (replayed !== null) replayed = laterOf(replayed, read.from);
      return read;
    },
    look,
    /** After a failure, it is unused until it responds to a check. */
    doubt(): void {
      replayed = null;
      void look();
    },
    async watch(signal: AbortSignal): Promise<void> {
      while (!signal.aborted) {
        await look();
        await sleepUnlessAborted(systemClock, replayed === null ? LOOK_AGAIN_MS : LOOK_EVERY_MS, signal);
      }
    },
    async close(): Promise<void> {
      isClosed = true;
      session?.destroy();
      await looking;
      session?.destroy();
      await pool.end();
    },
  };
}

function otherCluster(host: string): DatabaseError {
  return new DatabaseError({
    code: 'DATABASE_OTHER_CLUSTER',
    message: `The server at ${host} is not a standby of the server in DATABASE_URL`,
    facts: { host },
    remedy: 'Set DATABASE_READ_URL to hot standbys of the server in DATABASE_URL',
    retryable: true,
  });
}

export interface StandbyRead<Row> {
  readonly rows: Row[];
  /** Every commit up to here is included. */
  readonly from: WalPosition;
  /** No commit after this is included. */
  readonly to: WalPosition;
}

/** Later statements see everything replayed. */
const BEFORE = 'SELECT pg_last_wal_replay_lsn()::text AS replayed';

/**
 * A record takes effect before it counts as replayed: rows may include the next one, if more was
 * received or the WAL comes from an archive. So one byte more.
 */
const AFTER = `
  SELECT pg_is_in_recovery() AS follows, (CASE WHEN received = replayed THEN replayed ELSE replayed + 1 END)::text AS reached
  FROM (SELECT pg_last_wal_replay_lsn() AS replayed, pg_last_wal_receive_lsn() AS received) AS log`;

/** One trip: another query may reach another server. @throws {DatabaseError} DATABASE_NO_STANDBY */
async function readOnStandby<Row extends object>(
  client: SessionClient,
  text: string,
  values: readonly unknown[],
): Promise<StandbyRead<Row>> {
  const repeats = client.repeats;
  // All awaited: nothing runs on the connection afterwards.
  const [before, read, after] = await Promise.allSettled([
    client.queryPrepared<{ replayed: string | null }>(BEFORE, []),
    client.queryPrepared<Row>(text, [...values]),
    client.queryPrepared<{ follows: boolean; reached: string | null }>(AFTER, []),
  ]);
  if (read.status === 'rejected') throw read.reason;
  if (before.status === 'rejected') throw before.reason;
  if (after.status === 'rejected') throw after.reason;
  // A repeated statement ran after the others: their positions are wrong.
  if (client.repeats !== repeats) return readOnStandby(client, text, values);
  const [replayed, reached] = [before.value[0]?.replayed, after.value[0]?.reached];
  if (after.value[0]?.follows !== true || typeof replayed !== 'string' || typeof reached !== 'string')
    throw noStandby();
  return { rows: read.value, from: parseWalPosition(replayed), to: parseWalPosition(reached) };
}

function noStandby(): DatabaseError {
  return new DatabaseError({
    code: 'DATABASE_NO_STANDBY',
    message: 'it replays no WAL: it is the primary, or not a streaming standby',
    retryable: true,
  });
}
