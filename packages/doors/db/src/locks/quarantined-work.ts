import { hostname } from 'node:os';
import type { Logger } from '@chainstead/core';
import type { Database } from '../database.ts';
import { processLives } from '../embedded/postmaster.ts';
import { sql } from '../sql.ts';

export interface Suspects {
  reap(): Promise<void>;
  among(names: readonly string[]): Promise<ReadonlySet<string>>;
  /** Ended without a crash, successful or not. */
  clear(names: readonly string[]): Promise<void>;
}

interface RecordedProcess {
  readonly process: string;
  readonly pid: number;
  readonly isHere: boolean;
  readonly isLate: boolean;
  readonly seconds: number;
}

/** Suspects that are not retried are deleted after this time; quarantined ones stay. */
const FORGET_AFTER = '1 day';

export const CRASHES_MAX = 3;

export function createSuspects(options: {
  readonly database: Database;
  readonly logger: Logger;
  readonly process: string;
}): Suspects {
  const { database, logger } = options;

  async function takeOver(dead: string): Promise<void> {
    const rows = await database.query<{ name: string; crashes: number }>(
      sql`WITH gone AS (
         DELETE FROM inflight_work WHERE process = ${dead} RETURNING items, alone
       )
       INSERT INTO quarantined_work AS known (name, crashes)
       SELECT item, CASE WHEN item = ANY (string_to_array(alone, E'\\n')) THEN 2 ELSE 1 END FROM gone, unnest(items) AS item
       ON CONFLICT (name) DO UPDATE SET crashed_at = now(),
         -- Only what was tried alone is to blame; what was in hand related it is tried alone next.
         crashes = known.crashes + (SELECT count(*) FROM gone WHERE known.name = ANY (string_to_array(alone, E'\\n')))::int
       RETURNING name, crashes`,
    );
    if (rows.length === 0) return;
    logger.warn({ work: rows.length }, 'A process ended with work in hand, which is tried alone now');
    for (const { name, crashes } of rows)
      if (crashes >= CRASHES_MAX)
        logger.error({ work: name, crashes: CRASHES_MAX }, 'Work that ended the process is set aside');
  }

  return {
    async reap() {
      const processes = await database.query<RecordedProcess>(
        sql`SELECT process, pid, machine = ${hostname()} AS "isHere", alive_until < now() AS "isLate",
           extract(epoch FROM now() - entered_at)::float8 AS seconds FROM inflight_work WHERE process <> ${options.process}`,
      );
      for (const recorded of processes) if (isDead(recorded)) await takeOver(recorded.process);
      await database.query(
        sql`DELETE FROM quarantined_work WHERE crashes < ${CRASHES_MAX} AND reason IS NULL AND crashed_at < now() - ${FORGET_AFTER}::interval`,
      );
    },
    async among(names) {
      const rows = await database.query<{ name: string }>(
        sql`SELECT name FROM quarantined_work WHERE name = ANY (${names}::text[])`,
      );
      return new Set(rows.map(({ name }) => name));
    },
    async clear(names) {
      await database.query(sql`DELETE FROM quarantined_work WHERE name = ANY (${names}::text[])`);
    },
  };
}

/** A dead process may have had this one's pid. */
function isDead({ pid, isHere, isLate, seconds }: RecordedProcess): boolean {
  if (isLate || !isHere) return isLate;
  return pid === process.pid ? seconds > process.uptime() : !processLives(pid);
}

export interface SetAsideWork {
  /** Kind and key. */
  readonly name: string;
  readonly crashes: number;
  readonly crashedAt: Date;
  /** Left out without a crash; null: crashes. */
  readonly reason: string | null;
}

export function readSetAsideWork(database: Pick<Database, 'query'>, limit: number): Promise<SetAsideWork[]> {
  return database.query<SetAsideWork>(
    sql`SELECT name, crashes, crashed_at, reason FROM quarantined_work WHERE crashes >= ${CRASHES_MAX} OR reason IS NOT NULL
     ORDER BY crashed_at DESC, name LIMIT ${limit}`,
  );
}

export async function forgetSetAsideWork(database: Pick<Database, 'query'>, name: string): Promise<boolean> {
  const rows = await database.query<{ name: string }>(
    sql`DELETE FROM quarantined_work WHERE name = ${name} AND (crashes >= ${CRASHES_MAX} OR reason IS NOT NULL) RETURNING name`,
  );
  return rows.length > 0;
}

export async function readQuarantinedKeys(database: Pick<Database, 'query'>, kind: string, prefix: string) {
  const rows = await database.query<{ name: string }>(
    sql`SELECT name FROM quarantined_work WHERE crashes >= ${CRASHES_MAX} AND starts_with(name, ${`${kind} ${prefix}`})`,
  );
  return rows.map(({ name }) => name.slice(kind.length + 1));
}

export async function readCrashedKeys(database: Pick<Database, 'query'>, kind: string, prefix: string) {
  const rows = await database.query<{ name: string }>(
    sql`SELECT name FROM quarantined_work WHERE starts_with(name, ${`${kind} ${prefix}`}) ORDER BY name`,
  );
  return rows.map(({ name }) => name.slice(kind.length + 1));
}
