import { once } from 'node:events';
import { connect } from 'node:net';
import { Client, type ClientConfig } from 'pg';
import { joinSql, type Sql, sql } from '../sql.ts';
import { type ConnectionRoute, clientConfigOf, lead, type Way } from './connection-route.ts';
import { PreparedStatements, type Preparing } from './prepared-statements.ts';
import { queryOn, queryRows } from './query-on.ts';

interface SessionClientConfig extends ClientConfig {
  readonly route: ConnectionRoute;
  /** Applied in addition to those that every session needs. */
  readonly settings?: Readonly<Record<string, string>> | undefined;
  /** Behind a pooler in transaction mode, which keeps few settings. @default false */
  readonly isShared?: boolean;
  /** Absent: not prepared. */
  readonly preparing?: Preparing | undefined;
}

/** Without data for this long, an idle connection is probed. */
const KEEPALIVE_AFTER_MS = 5_000;

type Connected = (error: Error | null, client?: Client) => void;

export class SessionClient extends Client {
  readonly #route: ConnectionRoute;
  readonly #settings: Readonly<Record<string, string>>;
  readonly #isShared: boolean;
  readonly #prepared: PreparedStatements | undefined;
  #way: Way | undefined;
  #key: BackendKey | undefined;
  #backend: number | null = null;

  constructor({ route, settings, isShared = false, preparing, ...config }: SessionClientConfig) {
    super({
      ...config,
      ...clientConfigOf(route.target),
      keepAlive: true,
      keepAliveInitialDelayMillis: KEEPALIVE_AFTER_MS,
    });
    this.#route = route;
    this.#settings = isShared ? POOLED_SETTINGS : { ...SESSION_SETTINGS, ...settings };
    this.#isShared = isShared;
    this.#prepared = preparing === undefined ? undefined : new PreparedStatements(this, preparing);
    // Without a listener, an early error would crash the process.
    this.on('error', () => this.#way && this.#route.forget(this.#way));
    this.connection.once('backendKeyData', (key: BackendKey) => {
      this.#key = key;
    });
  }

  override connect(): Promise<Client>;
  override connect(callback: Connected): void;
  override connect(callback?: Connected): Promise<Client> | undefined {
    const connected = this.#connect();
    if (callback === undefined) return connected;
    connected.then(
      (client) => callback(null, client),
      (error: unknown) => callback(error instanceof Error ? error : new Error(String(error))),
    );
    return undefined;
  }

  /** A single statement, prepared if this client prepares. */
  queryPrepared<Row extends object>(text: string, values: unknown[]): Promise<Row[]> {
    return this.#prepared === undefined ? queryRows(this, { text, values }) : this.#prepared.query(text, values);
  }

  /** Statements of {@link queryPrepared} that ran after later ones. */
  get repeats(): number {
    return this.#prepared?.repeats ?? 0;
  }

  /** Server process; null behind a transaction pooler. Poolers invent cancel keys. */
  get backend(): number | null {
    return this.#backend;
  }

  goesAs(other: SessionClient): boolean {
    const [own, its] = [this.#way?.host, other.#way?.host];
    return own !== undefined && own.host === its?.host && own.port === its.port;
  }

  onReceived(listener: (bytes: number) => void): () => void {
    const { stream } = this.connection;
    const onData = (piece: Uint8Array): void => listener(piece.byteLength);
    stream.on('data', onData);
    return () => stream.off('data', onData);
  }

  /** Cuts running statements: an unresponsive server would never close. */
  destroy(): void {
    this.connection.stream.destroy();
  }

  /** The statement rejects with SQLSTATE 57014. Don't use the connection meanwhile. */
  async cancel(): Promise<void> {
    if (this.#way !== undefined && this.#key !== undefined) await sendCancelRequest(this.#way, this.#key);
  }

  async #connect(): Promise<Client> {
    const way = await this.#route.find();
    this.#way = way;
    lead(this, way);
    try {
      await super.connect();
      await this.#applySettings();
      await this.#prepared?.begin();
    } catch (error) {
      this.#route.forget(way);
      this.destroy();
      throw error;
    }
    return this;
  }

  /** After connecting, because poolers refuse the startup parameter `options`. */
  async #applySettings(): Promise<void> {
    const statement = sql`SELECT pg_backend_pid() AS backend, ${settingCalls(this.#settings)}`;
    const [session] = await queryOn<{ backend: number }>(this, statement);
    this.#backend = this.#isShared ? null : (session?.backend ?? null);
  }
}

interface BackendKey {
  readonly processID: number;
  readonly secretKey: number;
}

const TIMEOUT_MS = 5_000;

const CANCEL_REQUEST = 80_877_102;

/** The server closes this connection once it accepts. Not encrypted, like in libpq. */
async function sendCancelRequest({ host }: Way, { processID, secretKey }: BackendKey): Promise<void> {
  const request = Buffer.alloc(16);
  request.writeInt32BE(request.length, 0);
  request.writeInt32BE(CANCEL_REQUEST, 4);
  request.writeInt32BE(processID, 8);
  request.writeInt32BE(secretKey, 12);
  const socket = host.host.startsWith('/')
    ? connect(`${host.host}/.s.PGSQL.${host.port}`)
    : connect(host.port, host.host);
  socket.setTimeout(TIMEOUT_MS, () =>
    socket.destroy(new Error('The server did not take the request to cancel in time')),
  );
  socket.resume();
  // Not half-closed: PgBouncer would drop the request.
  socket.write(request);
  await once(socket, 'close');
}

type Settings = Readonly<Record<string, string>>;

/** Kept for each client by poolers in transaction mode, such as PgBouncer. */
const POOLED_SETTINGS: Settings = {
  DateStyle: 'ISO, MDY',
  TimeZone: 'UTC',
  standard_conforming_strings: 'on',
};

/** They decide rows, names and texts of values. */
export const RESULT_SETTINGS: Settings = {
  ...POOLED_SETTINGS,
  IntervalStyle: 'postgres',
  array_nulls: 'on',
  bytea_output: 'hex',
  default_transaction_isolation: 'read committed',
  extra_float_digits: '1',
  gin_fuzzy_search_limit: '0',
  quote_all_identifiers: 'off',
  // Hosted servers install extensions into the second one.
  search_path: 'public, extensions',
  transform_null_equals: 'off',
};

/** For every session: a server, database or role may have others (ALTER DATABASE … SET). */
// Invariant: DB-SESSION-SETTINGS
const SESSION_SETTINGS: Settings = {
  ...RESULT_SETTINGS,
  // Callers bound their statements, and idle listeners stay.
  idle_session_timeout: '0',
  lock_timeout: '0',
  statement_timeout: '0',
  transaction_timeout: '0',
  // A silent client must not hold locks.
  idle_in_transaction_session_timeout: '30s',
  tcp_keepalives_count: '3',
  tcp_keepalives_idle: '3',
  tcp_keepalives_interval: '1',
  tcp_user_timeout: '8000',
};

/** Postgres before 17 lacks it. */
const RECENT = 'transaction_timeout';

/** @returns the items of a SELECT */
function settingCalls(settings: Settings): Sql {
  const calls = Object.entries(settings).map(([name, value]) => {
    const call = sql`set_config(${name}, ${value}, false)`;
    return name === RECENT ? sql`CASE WHEN current_setting(${name}, true) IS NOT NULL THEN ${call} END` : call;
  });
  return joinSql(calls);
}
