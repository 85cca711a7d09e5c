import { hash, randomUUID } from 'node:crypto';
import type { Logger } from '@chainstead/core';
import { type Client, type Connection, DatabaseError as PostgresError, type QueryResult } from 'pg';

/** How connections of one pool prepare their statements. */
export interface Preparing {
  /** One name for each text: a server that has a statement under this name has this statement. */
  nameOf(text: string): string;
  /** Whether a pooler stands between, which may hand statements to sessions that never saw them. */
  readonly isPooled: boolean;
  /** Tells once that statements can't be prepared. */
  warn(): void;
}

/**
 * Statements that one connection keeps; the one that was not used for longest makes room. Enough for the shapes that are asked for
 * often: a page of transfers takes the server 400 kB.
 */
const STATEMENTS_MAX = 60;
/** Texts whose names are remembered. */
const NAMES_MAX = 1_000;

export function createPreparing(options: { readonly isPooled: boolean; readonly logger: Logger }): Preparing {
  const names = new Map<string, string>();
  let hasWarned = false;
  return {
    isPooled: options.isPooled,
    nameOf(text) {
      const known = names.get(text);
      if (known !== undefined) return known;
      const name = `chainstead_${hash('sha256', text, 'hex').slice(0, 32)}`;
      if (names.size >= NAMES_MAX) names.clear();
      names.set(text, name);
      return name;
    },
    warn() {
      if (hasWarned) return;
      hasWarned = true;
      options.logger.warn(
        { remedy: 'Set max_prepared_statements of PgBouncer 1.21 or newer, or DATABASE_PREPARED=false' },
        'The pooler before the database keeps no prepared statements: every request is parsed and planned anew',
      );
    },
  };
}

/** The statements that one connection has prepared. Of several queries at once, one may come behind the others: {@link PreparedStatements.repeats}. */
export class PreparedStatements {
  readonly #client: Client;
  readonly #preparing: Preparing;
  /** Names, the one that was used last at the end. */
  readonly #kept = new Set<string>();
  #isOff = false;
  #repeats = 0;

  constructor(client: Client, preparing: Preparing) {
    this.#client = client;
    this.#preparing = preparing;
  }

  /** Statements that were run again, behind what was sent after them. */
  get repeats(): number {
    return this.#repeats;
  }

  /** Once, after connecting. */
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
      // None of these is told once a statement has begun: it can run again.
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

/** SQLSTATEs of a pooler that passes names on: the session has the statement from another client, or does not have it. */
const DUPLICATE = '42P05';
const MISSING = '26000';
/** What a migration does to statements that read its table. */
const NOT_SUPPORTED = '0A000';
const CHANGED_COLUMNS = /cached plan must not change result type/;

/** Poolers that keep statements give them names of their own. */
async function isKept(client: Client): Promise<boolean> {
  const name = `chainstead_probe_${randomUUID()}`;
  const text = 'SELECT FROM pg_prepared_statements WHERE name = $1';
  await client.query('BEGIN');
  const { rows } = await client.query({ name, text, values: [name] });
  closeStatement(client.connection, name);
  await client.query('COMMIT');
  return rows.length === 0;
}

/** Goes out with the next query; no answer is waited for. */
function closeStatement(connection: Connection, name: string): void {
  connection.close({ type: 'S', name }, true);
  // `pg` would take it for prepared; its types leave this out.
  if (
    'parsedStatements' in connection &&
    typeof connection.parsedStatements === 'object' &&
    connection.parsedStatements
  )
    Reflect.deleteProperty(connection.parsedStatements, name);
}
