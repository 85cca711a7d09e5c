import { errorText, type Logger, sleepUnlessAborted, systemClock } from '@chainstead/core';
import type { Pool, PoolConfig } from 'pg';
import { type End, onClient } from '../client-use.ts';
import { columnParsers } from '../column-parsers.ts';
import { type ConnectionRoom, readConnectionRoom } from '../connection-room.ts';
import type { ConnectionTarget, DatabaseHost } from '../connection-string.ts';
import { DatabaseError } from '../database-error.ts';
import { type OpenSession, openPoolTo, sessionsTo } from '../open-pool.ts';
import { SessionClient } from '../session-client.ts';
import { noStandby, readOnStandby, type StandbyRead } from './read-on-standby.ts';
import { laterOf, parseWalPosition, type WalPosition } from './wal-position.ts';

export interface StandbyOptions {
  /** Its one host. */
  readonly target: ConnectionTarget;
  /** Of the primary's cluster, which it has to be a copy of. */
  readonly clusterId: string;
  readonly applicationName: string;
  /** Connections at most, besides one that looks how far it has replayed. */
  readonly poolSize: number;
  readonly prepared: boolean;
  readonly settings: Readonly<Record<string, string>>;
  /** Told whenever the server is found. */
  readonly onRoom: (host: string, room: ConnectionRoom) => void;
  readonly logger: Logger;
}

/** What is known of a position spares requests the question: so old it is at most. Milliseconds. */
const LOOK_EVERY_MS = 150;
/** Of a server that is away. Milliseconds. */
const LOOK_AGAIN_MS = 1_000;
/** A server that says nothing for so long is away. Milliseconds. */
const SILENCE_MS = 3_000;

/** A server that follows the primary and answers reads. */
export class Standby {
  /** `host:port`. */
  readonly host: string;
  readonly #options: StandbyOptions;
  readonly #pool: Pool;
  readonly #openSession: OpenSession;
  readonly #clients = new Set<SessionClient>();
  #replayed: WalPosition | null = null;
  #lastReplayed: WalPosition | null = null;
  #session: SessionClient | null = null;
  #looking: Promise<void> | null = null;
  /** Null: it was not told yet whether it can be read from. */
  #isAway: boolean | null = null;
  #isClosed = false;

  constructor(options: StandbyOptions) {
    const { applicationName } = options;
    const target = { ...options.target, connectTimeoutMs: Math.min(options.target.connectTimeoutMs, SILENCE_MS) };
    this.#options = options;
    this.host = target.hosts.map(nameOf).join(',');
    // The statements of a read are sent at once.
    const config: PoolConfig = { types: columnParsers, pipeline: true };
    this.#pool = openPoolTo(target, { ...options, size: options.poolSize }, config);
    this.#pool.on('connect', (client) => {
      if (client instanceof SessionClient) this.#clients.add(client);
    });
    this.#pool.on('remove', (client) => {
      if (client instanceof SessionClient) this.#clients.delete(client);
    });
    this.#openSession = sessionsTo(target, { applicationName });
  }

  /** Known to be replayed so far; null while it can't be read from. */
  get replayed(): WalPosition | null {
    return this.#replayed;
  }

  /** Its last word; null before the first. */
  get lastReplayed(): WalPosition | null {
    return this.#lastReplayed;
  }

  /** @throws what the connection and the statement throw; it is for the caller to {@link Standby.doubt} */
  async read<Row extends object>(text: string, values: readonly unknown[], end?: End): Promise<StandbyRead<Row>> {
    const read = await onClient(
      this.#pool,
      (client) => {
        if (!(client instanceof SessionClient)) throw new TypeError('A pool gave a client of another kind');
        return readOnStandby<Row>(client, text, values);
      },
      end,
    );
    if (this.#replayed !== null) this.#replayed = laterOf(this.#replayed, read.from);
    return read;
  }

  /** Asks how far it has replayed. Who asks at the same time shares the answer, which {@link Standby.replayed} has afterwards. */
  look(): Promise<void> {
    this.#looking ??= this.#look().finally(() => {
      this.#looking = null;
    });
    return this.#looking;
  }

  /** After a failure that may be the server's: it is left alone until it has answered a look. */
  doubt(): void {
    this.#replayed = null;
    void this.look();
  }

  /** Looks again and again, until the signal aborts. */
  async watch(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.look();
      await sleepUnlessAborted(systemClock, this.#replayed === null ? LOOK_AGAIN_MS : LOOK_EVERY_MS, signal);
    }
  }

  /** Waits for reads at work. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#session?.destroy();
    await this.#looking;
    this.#session?.destroy();
    await this.#pool.end();
  }

  async #look(): Promise<void> {
    if (this.#isClosed) return;
    try {
      this.#session ??= await this.#connect();
      const { rows } = await this.#session.query<{ follows: boolean; replayed: string | null }>(
        'SELECT pg_is_in_recovery() AS follows, pg_last_wal_replay_lsn()::text AS replayed',
      );
      if (rows[0]?.follows !== true || rows[0].replayed === null) throw noStandby();
      this.#found(parseWalPosition(rows[0].replayed));
    } catch (error) {
      if (!this.#isClosed) this.#lost(error);
    }
  }

  /** @throws {DatabaseError} DATABASE_OTHER_CLUSTER */
  async #connect(): Promise<SessionClient> {
    const { clusterId, onRoom, applicationName } = this.#options;
    const session = this.#openSession({ types: columnParsers, query_timeout: SILENCE_MS });
    try {
      await session.connect();
      const query = async <Row extends object>(text: string, values: readonly unknown[] = []) =>
        (await session.query<Row>(text, [...values])).rows;
      const [cluster] = await query<{ id: string }>('SELECT system_identifier::text AS id FROM pg_control_system()');
      if (cluster?.id !== clusterId) throw otherCluster(this.host);
      onRoom(this.host, await readConnectionRoom({ query }, applicationName));
      return session;
    } catch (error) {
      session.destroy();
      throw error;
    }
  }

  #found(position: WalPosition): void {
    this.#lastReplayed = position;
    // It may be behind what it showed before, once it was restarted.
    this.#replayed = position;
    if (this.#isAway !== false) this.#options.logger.info({ host: this.host }, 'Reads go to the standby');
    this.#isAway = false;
  }

  #lost(error: unknown): void {
    this.#session?.destroy();
    this.#session = null;
    this.#replayed = null;
    // Who waits for a server that fell silent would wait until the kernel gives it up.
    for (const client of this.#clients) client.destroy();
    if (this.#isAway !== true) {
      const isPrimary = error instanceof DatabaseError && error.code === 'DATABASE_NO_STANDBY';
      const facts = { host: this.host, error: errorText(error) };
      this.#options.logger[isPrimary ? 'info' : 'warn'](facts, 'The standby can not be read from: reads go elsewhere');
    }
    this.#isAway = true;
  }
}

function nameOf({ host, port }: DatabaseHost): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}

function otherCluster(host: string): DatabaseError {
  return new DatabaseError({
    code: 'DATABASE_OTHER_CLUSTER',
    message: `The server at ${host} is no copy of the one that DATABASE_URL leads to`,
    facts: { host },
    remedy: 'Let DATABASE_READ_URL name hot standbys of that server',
    retryable: true,
  });
}
