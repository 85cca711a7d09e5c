import { hash, randomUUID } from 'node:crypto';
import type { Logger } from '@chainstead/core';
import { type Client, type Connection, DatabaseError as PostgresError } from 'pg';
import { sql, statementOf } from '../sql.ts';
import { queryRows } from './query-on.ts';

export interface Preparing {
  nameOf(text: string): string;
  /** A pooler may send statements to sessions without them. */
  readonly isPooled: boolean;
  warn(): void;
}

/** Per connection, least recently used closed first. A page's takes 400 kB on the server. */
const STATEMENTS_MAX = 60;
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
        { remedy: 'Set max_prepared_statements in PgBouncer 1.21 or newer' },
        'The connection pooler supports no prepared statements: Postgres parses and plans every request again',
      );
    },
  };
}

/** A concurrent query may be repeated after later ones: {@link PreparedStatements.repeats}. */
export class PreparedStatements {
  readonly #client: Client;
  readonly #preparing: Preparing;
  readonly #kept = new Set<string>();
  #isOff = false;
  #repeats = 0;

  constructor(client: Client, preparing: Preparing) {
    this.#client = client;
    this.#preparing = preparing;
  }

  /** Statements that were repeated after statements sent later. */
  get repeats(): number {
    return this.#repeats;
  }

  async begin(): Promise<void> {
    if (this.#preparing.isPooled && !(await isKept(this.#client))) this.#giveUp();
  }

  async query<Row extends object>(text: string, values: unknown[]): Promise<Row[]> {
    if (this.#isOff) return queryRows(this.#client, { text, values });
    const name = this.#preparing.nameOf(text);
    this.#makeRoomFor(name);
    try {
      return await queryRows<Row>(this.#client, { name, text, values });
    } catch (error) {
      // Postgres returns these errors before a statement begins, so it can run again.
      if (!(error instanceof PostgresError)) throw error;
      if (error.code === DUPLICATE || error.code === MISSING) this.#giveUp();
      else if (error.code === NOT_SUPPORTED && error.routine === CHECKED_COLUMNS) this.#close(name);
      else throw error;
      this.#repeats += 1;
      return queryRows(this.#client, { text, values });
    }
  }

  #makeRoomFor(name: string): void {
    const [oldest] = this.#kept;
    if (!this.#kept.delete(name) && oldest !== undefined && this.#kept.size >= STATEMENTS_MAX)
      this.#close(oldest);
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

/** A pooler passes names on: the statement is another client's, or missing. */
const DUPLICATE = '42P05';
const MISSING = '26000';
/** A migration changed the table. */
const NOT_SUPPORTED = '0A000';
/** Function of Postgres: messages have the language of `lc_messages`. */
const CHECKED_COLUMNS = 'RevalidateCachedQuery';

async function isKept(client: Client): Promise<boolean> {
  const name = `chainstead_probe_${randomUUID()}`;
  const { text, values } = statementOf(sql`SELECT FROM pg_prepared_statements WHERE name = ${name}`);
  await client.query('BEGIN');
  const { rows } = await client.query({ name, text, values: [...values] });
  closeStatement(client.connection, name);
  await client.query('COMMIT');
  return rows.length === 0;
}

function closeStatement(connection: Connection, name: string): void {
  connection.close({ type: 'S', name }, true);
  // Otherwise `pg` considers it prepared. Its types lack this field.
  const parsed: unknown = Reflect.get(connection, 'parsedStatements');
  if (typeof parsed === 'object' && parsed !== null) Reflect.deleteProperty(parsed, name);
}
