import { Client, type ClientConfig, type QueryResult } from 'pg';
import { type BackendKey, sendCancelRequest } from './cancel-request.ts';
import { type ConnectionRoute, clientConfigOf, lead, type Way } from './connection-route.ts';
import { PreparedStatements, type Preparing } from './prepared-statements.ts';

export interface SessionClientConfig extends ClientConfig {
  readonly route: ConnectionRoute;
  /** Server settings of the session, by name. */
  readonly settings: Readonly<Record<string, string>>;
  /** Absent: statements are not prepared. */
  readonly preparing?: Preparing | undefined;
}

/** Without a sign of life from the server, an idle connection is tested after so long. Milliseconds. */
const KEEPALIVE_AFTER_MS = 5_000;

/**
 * The server's side of the same: a machine that fell silent holds its locks no longer than this. By statements after connecting, since
 * poolers refuse the start-up parameter `options`.
 */
export const SILENCE_SETTINGS: Readonly<Record<string, string>> = {
  tcp_keepalives_idle: '3',
  tcp_keepalives_interval: '1',
  tcp_keepalives_count: '3',
  tcp_user_timeout: '8000',
  idle_in_transaction_session_timeout: '30s',
};

type Connected = (error: Error | null, client?: Client) => void;

/** A client of `pg` that finds its server by a route, has settings, and can be cut off. */
export class SessionClient extends Client {
  readonly #route: ConnectionRoute;
  readonly #settings: Readonly<Record<string, string>>;
  readonly #prepared: PreparedStatements | undefined;
  #way: Way | undefined;
  #key: BackendKey | undefined;
  #backend: number | null = null;

  constructor({ route, settings, preparing, ...config }: SessionClientConfig) {
    super({
      ...config,
      ...clientConfigOf(route.target),
      keepAlive: true,
      keepAliveInitialDelayMillis: KEEPALIVE_AFTER_MS,
    });
    this.#route = route;
    this.#settings = settings;
    this.#prepared = preparing === undefined ? undefined : new PreparedStatements(this, preparing);
    // One that breaks before anybody listens would end the process; whoever uses it hears of it anyway.
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

  /** One statement, prepared under a name of its own where this client prepares. Its values may be none, but it must not be several. */
  run<Row extends object>(text: string, values: unknown[]): Promise<QueryResult<Row>> {
    return this.#prepared === undefined ? this.query<Row>(text, values) : this.#prepared.query<Row>(text, values);
  }

  /** How many statements of {@link run} were run again, behind those that were sent after them. */
  get repeats(): number {
    return this.#prepared?.repeats ?? 0;
  }

  /** The server's process of the session; null where it was not asked, since a pooler gives each transaction another one. Not the key's: poolers make those up. */
  get backend(): number | null {
    return this.#backend;
  }

  /** Whether the other one was connected to by the same host and port. */
  goesAs(other: SessionClient): boolean {
    const [own, its] = [this.#way?.host, other.#way?.host];
    return own !== undefined && own.host === its?.host && own.port === its.port;
  }

  /** Ends the connection at once, whatever is under way on it: a server that fell silent would never say goodbye. */
  destroy(): void {
    this.connection.stream.destroy();
  }

  /**
   * Asks the server to give the statement under way up; it then rejects with SQLSTATE 57014. Resolves when the request was taken, and
   * rejects when it could not be delivered. Poolers pass it on. The connection must not be used for anything else meanwhile.
   */
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

  async #applySettings(): Promise<void> {
    const settings = Object.entries(this.#settings);
    if (settings.length === 0) return;
    const calls = settings.map((_, index) => `set_config($${2 * index + 1}, $${2 * index + 2}, false)`);
    const { rows } = await this.query<{ backend: number }>(
      `SELECT pg_backend_pid() AS backend, ${calls.join(', ')}`,
      settings.flat(),
    );
    this.#backend = rows[0]?.backend ?? null;
  }
}
