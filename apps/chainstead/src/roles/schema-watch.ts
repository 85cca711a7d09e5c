import { errorText, type Logger } from '@chainstead/core';
import { checkSchema, type Database, DatabaseError } from '@chainstead/db';

/** Notices when a newer version of the program migrates the database under this one. */
export interface SchemaWatch {
  /** What to tell of it; null: the schema is one that this program knows. */
  readonly note: string | null;
  stop(): void;
}

export interface SchemaWatchOptions {
  readonly database: Database;
  readonly logger: Logger;
  /** Milliseconds between two looks. Default 30,000. */
  readonly intervalMs?: number;
}

const INTERVAL_MS = 30_000;
const NOTE =
  'a newer version of Chainstead has migrated the database: this process goes on with what it knows, upgrade it soon';

/** Looks at once and then at an interval, until it has noticed or is stopped; it is told in one log line. */
export async function watchSchema({
  database,
  logger,
  intervalMs = INTERVAL_MS,
}: SchemaWatchOptions): Promise<SchemaWatch> {
  let note: string | null = null;
  let isStopped = false;
  let known: readonly string[] | null = null;
  let timer: NodeJS.Timeout | undefined;

  function tell(migrations: unknown): void {
    note = NOTE;
    logger.warn({ migrations }, 'A newer version of Chainstead has migrated the database: upgrade this process soon');
  }

  /** By the names at the start: an upgrade in place has replaced the program's own list on the disk. */
  async function look(): Promise<void> {
    if (known === null) {
      await checkSchema(database);
      known = (await database.query<{ name: string }>('SELECT name FROM schema_migrations')).map(({ name }) => name);
      return;
    }
    const added = await database.query<{ name: string }>(
      'SELECT name FROM schema_migrations WHERE name <> ALL ($1) ORDER BY name',
      [known],
    );
    if (added.length > 0) tell(added.map(({ name }) => name));
  }

  async function lookAndGoOn(): Promise<void> {
    try {
      await look();
    } catch (error) {
      if (error instanceof DatabaseError && error.code === 'SCHEMA_NEWER') tell(error.facts.migrations);
      else logger.debug({ error: errorText(error) }, 'The version of the schema could not be read');
    }
    if (note === null && !isStopped) timer = setTimeout(() => void lookAndGoOn(), intervalMs).unref();
  }

  await lookAndGoOn();
  return {
    get note() {
      return note;
    },
    stop() {
      isStopped = true;
      clearTimeout(timer);
    },
  };
}
