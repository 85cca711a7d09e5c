import { setTimeout as delay } from 'node:timers/promises';
import { silentLogger } from '@chainstead/core';
import { asSql, type Sql, sql } from '@chainstead/db';
import { openDatabase } from '@chainstead/db/server';
import type { ScratchCluster } from './scratch-cluster.ts';

/** A pause begins when the replay comes to it. */
const LOOKS_MAX = 900;
const LOOK_MS = 100;

/** One statement, as the superuser of the server. */
export async function queryCluster<Row extends object>(
  server: ScratchCluster,
  statement: Sql | string,
): Promise<Row[]> {
  const admin = openDatabase({
    url: server.url(),
    applicationName: 'admin',
    poolSize: 1,
    logger: silentLogger(),
  });
  try {
    return await admin.query<Row>(asSql(statement));
  } finally {
    await admin.close();
  }
}

/** A standby stands still, and answers what it has. Resolves once it does. @throws Error when it does not within a minute and a half */
export async function pauseReplay(server: ScratchCluster): Promise<void> {
  await queryCluster(server, sql`SELECT pg_wal_replay_pause()`);
  for (let look = 0; look < LOOKS_MAX; look += 1) {
    const [row] = await queryCluster<{ state: string }>(
      server,
      sql`SELECT pg_get_wal_replay_pause_state() AS state`,
    );
    if (row?.state === 'paused') return;
    await delay(LOOK_MS);
  }
  throw new Error(`The standby at ${server.host} does not pause its replay`);
}
