import { hash, randomUUID } from 'node:crypto';
import type { Logger } from '@chainstead/core';
import { type Client, type Connection, DatabaseError as PostgresError, type QueryResult } from 'pg';
import { sql, statementOf } from '../sql.ts';

/** Shared by the connections of a pool. */
export interface Preparing {
  /** Unique: a prepared statement with this name has this text. */
  nameOf(text: string): string;
  /** A pooler is in between, which may send statements to sessions without them. */
  readonly isPooled: boolean;
  /** Warns once that statements can't be prepared. */
  warn(): void;
}

/** Per connection; the least recently used one is closed. A page of transfers takes 400 kB on the server. */
const STATEMENTS_MAX = 60;
/** Cached names of texts. */
const NAMES_MAX = 1_000;

export function createPreparing(options: { readonly isPooled: boolean; readonly logger: Logger }): Preparing {
  const names = new Map<string, string>();
  let hasWarned = false;
  return {
    isPooled: options.isPooled,
    nameOf(text) {
      const cached = names.get(text);
      if (cached !== undefined) return cached;
      const name = `chainstead_${hash('sha256', text, 'hex').slice(0, 32)}`;
      if (names.size >= NAMES_MAX) names.clear();
      names.set(text, name);
      return name;
    },
    warn() {
      if (hasWarned) return;
      hasWarned = true;
      options.logger.warn(
        { remedy: 'Set max_prepared_statements in PgBouncer 1.21 or newer, or set DATABASE_PREPARED=false' },
        'The connection pooler supports no prepared statements: Postgres parses and plans every request again',
      );
    },
  };
}

/** For one connection. A concurrent query may be repeated after later ones, see {@link PreparedStatements.repeats}. */
export class PreparedStatements {
  readonly #client: Client;
  readonly #preparing: Preparing;
  /** The most recently used last. */
  readonly #kept = new Set<string>();
  #isOff = false;
  #repeats = 0;

  constructor(client: Client, preparing: Preparing) {
    this.#client = client;
    this.#preparing = preparing;
  }

  /** Repeated statements, which ran after statements sent later. */
  get repeats(): number {
    return this.#repeats;
  }

  /** After connecting. */
  async begin(): Promise<void> {
    if (this.#preparing.isPooled && !(await isKept(this.#client))) this.#giveUp();
  }

  async query<Row extends object>(text: string, values: unknown[]): Promise<QueryResult<Row>> {
    if (this.#isOff) return this.#client.query<Row>(text, values);
    const name = this.#preparing.nameOf(text);
    this.#makeRoomFor(name);
    try {
      return await this.#client.query<Row>({ name, text, values });
    } catch (error) {
      // Postgres returns these errors only before a statement begins, so it can run again.
      if (!(error instanceof PostgresError)) throw error;
      if (error.code === DUPLICATE || error.code === MISSING) this.#giveUp();
      else if (error.code === NOT_SUPPORTED && CHANGED_COLUMNS.test(error.message)) this.#close(name);
      else throw error;
      this.#repeats += 1;
      return this.#client.query<Row>(text, values);
    }
  }

  #makeRoomFor(name: string): void {
    const [oldest] = this.#kept;
    if (!this.#kept.delete(name) && oldest !== undefined && this.#kept.size >= STATEMENTS_MAX) this.#close(oldest);
    this.#kept.add(name);
  }

  #giveUp(): void {
    this.#isOff = true;
    this.#preparing.warn();
  }

  #close(name: string): void {
    this.#kept.delete(name);
    closeStatement(this.#client.connection, name);
  }
}

/** Behind a pooler that passes names on: the session has the statement from another client, or lacks it. */
const DUPLICATE = '42P05';
const MISSING = '26000';
/** The table of a statement was changed by a migration. */
const NOT_SUPPORTED = '0A000';
const CHANGED_COLUMNS = /cached plan must not change result type/;

/** The pooler supports prepared statements: it renames them on the server. */
async function isKept(client: Client): Promise<boolean> {
  const name = `chainstead_probe_${randomUUID()}`;
  const { text, values } = statementOf(sql`SELECT FROM pg_prepared_statements WHERE name = ${name}`);
  await client.query('BEGIN');
  const { rows } = await client.query({ name, text, values: [...values] });
  closeStatement(client.connection, name);
  await client.query('COMMIT');
  return rows.length === 0;
}

/** Sent with the next query; the response is not awaited. */
function closeStatement(connection: Connection, name: string): void {
  connection.close({ type: 'S', name }, true);
  // Otherwise `pg` would consider it prepared. Its types lack this field.
  const parsed: unknown = Reflect.get(connection, 'parsedStatements');
  if (typeof parsed === 'object' && parsed !== null) Reflect.deleteProperty(parsed, name);
}
