import { hostname } from 'node:os';
import type { Clock } from '@chainstead/core';
import { type Database, queryOn, sql } from '@chainstead/db';
import { ExportRunningError } from '../errors.ts';

/** Postgres may notice the end of a killed process late. */
const TRIES = 20;
const TRY_AGAIN_MS = 250;

/** Keeps other processes away until released, or the process ends. `folder`: real path. @throws ExportRunningError */
export async function holdFolder(
  database: Database,
  clock: Pick<Clock, 'sleep'>,
  folder: string,
): Promise<{ release(): Promise<void> }> {
  const client = database.session();
  await client.connect();
  const release = () => client.end();
  try {
    for (let left = TRIES; left > 0; left--) {
      const [lock] = await queryOn<{ is_held: boolean }>(
        client,
        sql`SELECT pg_try_advisory_lock(hashtextextended(${`export ${hostname()}:${folder}`}, 0)) AS is_held`,
      );
      if (lock?.is_held === true) return { release };
      if (left > 1) await clock.sleep(TRY_AGAIN_MS);
    }
    throw new ExportRunningError(folder);
  } catch (error) {
    await release();
    throw error;
  }
}
