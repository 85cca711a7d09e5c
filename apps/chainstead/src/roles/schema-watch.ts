import { errorText, type Logger } from '@chainstead/core';
import { type Database, DatabaseError, sql } from '@chainstead/db';
import { checkSchema } from '@chainstead/db/server';

export interface SchemaWatch {
  /** For readiness responses; null: this version knows the schema. */
  readonly note: string | null;
  stop(): void;
}

export interface SchemaWatchOptions {
  readonly database: Database;
  readonly logger: Logger;
  /** @default 30,000 */
  readonly intervalMs?: number;
}

const INTERVAL_MS = 30_000;
const NOTE =
  'a newer version of Chainstead migrated the database; this process continues on the earlier schema, upgrade it soon';

export async function watchSchema({
  database,
  logger,
  intervalMs = INTERVAL_MS,
}: SchemaWatchOptions): Promise<SchemaWatch> {
  let note: string | null = null;
  let isStopped = false;
  let known: readonly string[] | null = null;
  let timer: NodeJS.Timeout | undefined;

  function report(migrations: unknown): void {
    note = NOTE;
    logger.warn({ migrations }, 'A newer version of Chainstead migrated the database. Upgrade this process soon');
  }

  /** Compares with the names at the start: an upgrade in place replaces the list on disk. */
  async function look(): Promise<void> {
    if (known === null) {
      await checkSchema(database);
      known = (await database.query<{ name: string }>(sql`SELECT name FROM schema_migrations`)).map(
        ({ name }) => name,
      );
      return;
    }
    const added = await database.query<{ name: string }>(
      sql`SELECT name FROM schema_migrations WHERE name <> ALL (${known}) ORDER BY name`,
    );
    if (added.length > 0) report(added.map(({ name }) => name));
  }

  async function lookAndGoOn(): Promise<void> {
    try {
      await look();
    } catch (error) {
      if (error instanceof DatabaseError && error.code === 'SCHEMA_NEWER') report(error.facts.migrations);
      else logger.debug({ error: errorText(error) }, 'Schema version could not be read');
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
