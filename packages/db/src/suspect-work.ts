import { hostname } from 'node:os';
import type { Logger } from '@chainstead/core';
import type { Database } from './database.ts';

/** What processes had in hand when they died. */
export interface Suspects {
  /** Takes in what dead processes leave. */
  reap(): Promise<void>;
  among(names: readonly string[]): Promise<ReadonlySet<string>>;
  /** They were done, or failed, without the process ending. */
  clear(names: readonly string[]): Promise<void>;
}

interface ProcessRow {
  readonly process: string;
  readonly pid: number;
  readonly isHere: boolean;
  readonly isLate: boolean;
  /** Since it entered. */
  readonly seconds: number;
}

/** What nobody tried again is forgotten; what was set aside stays. */
const FORGET_AFTER = '1 day';

/** How often a process may end with a thing in hand, the last times alone, before it is set aside. */
export const CRASHES_MAX = 3;

export function createSuspects(options: {
  readonly database: Database;
  readonly logger: Logger;
  /** The own one. */
  readonly process: string;
}): Suspects {
  const { database, logger } = options;

  async function takeOver(dead: string): Promise<void> {
    const rows = await database.query<{ name: string; crashes: number }>(
      `WITH gone AS (
         DELETE FROM process_work WHERE process = $1 RETURNING items, alone
       )
       INSERT INTO suspect_work AS known (name, crashes)
       SELECT item, CASE WHEN item = ANY (string_to_array(alone, E'\\n')) THEN 2 ELSE 1 END FROM gone, unnest(items) AS item
       ON CONFLICT (name) DO UPDATE SET crashed_at = now(),
         -- Only what was tried alone is to blame; what was in hand beside it is tried alone next.
         crashes = known.crashes + (SELECT count(*) FROM gone WHERE known.name = ANY (string_to_array(alone, E'\\n')))::int
       RETURNING name, crashes`,
      [dead],
    );
    if (rows.length === 0) return;
    const over = rows.filter(({ crashes }) => crashes >= CRASHES_MAX).map(({ name }) => name);
    logger.warn({ work: rows.length }, 'A process ended with work in hand, which is tried alone now');
    for (const name of over)
      logger.error({ work: name, crashes: CRASHES_MAX }, 'Work that ended the process is set aside');
  }

  return {
    async reap() {
      const rows = await database.query<ProcessRow>(
        `SELECT process, pid, machine = $2 AS "isHere", alive_until < now() AS "isLate",
           extract(epoch FROM now() - entered_at)::float8 AS seconds FROM process_work WHERE process <> $1`,
        [options.process, hostname()],
      );
      for (const row of rows) if (isDead(row)) await takeOver(row.process);
      await database.query(`DELETE FROM suspect_work WHERE crashes < $1 AND crashed_at < now() - $2::interval`, [
        CRASHES_MAX,
        FORGET_AFTER,
      ]);
    },
    async among(names) {
      const rows = await database.query<{ name: string }>(
        'SELECT name FROM suspect_work WHERE name = ANY ($1::text[])',
        [names],
      );
      return new Set(rows.map(({ name }) => name));
    },
    async clear(names) {
      await database.query('DELETE FROM suspect_work WHERE name = ANY ($1::text[])', [names]);
    },
  };
}

/** Of this machine one knows at once; its own process number may have been a dead one's before. */
function isDead({ pid, isHere, isLate, seconds }: ProcessRow): boolean {
  if (isLate) return true;
  if (!isHere) return false;
  if (pid === process.pid) return seconds > process.uptime();
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    // A process of another user may not be signalled, and lives.
    return !(error instanceof Error && 'code' in error && error.code === 'EPERM');
  }
}

/** Work that is not done any more, because processes ended with it. */
export interface SetAsideWork {
  /** Kind and key. */
  readonly name: string;
  readonly crashes: number;
  /** Of the last time. */
  readonly crashedAt: Date;
}

/** The newest first. */
export function readSetAsideWork(database: Pick<Database, 'query'>, limit: number): Promise<SetAsideWork[]> {
  return database.query<SetAsideWork>(
    `SELECT name, crashes, crashed_at AS "crashedAt" FROM suspect_work WHERE crashes >= $1
     ORDER BY crashed_at DESC, name LIMIT $2`,
    [CRASHES_MAX, limit],
  );
}
