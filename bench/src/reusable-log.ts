import { sql } from '@chainstead/db';
import type { ScratchDatabase } from '@chainstead/testkit';

/** More than the blocks of a run of following write, which is about 12 MB a second. */
const SEGMENTS = 60;

/**
 * Leaves segments of Postgres' log to be used again, as those before the last checkpoint are on a server that has run for a while. On a fresh
 * one each segment is written full of zeros when it is come to, and for that the commit that comes to it waits.
 * @param database of a server with a `min_wal_size` of more than these segments, whose role may switch them
 */
export async function leaveReusableLog({ database }: Pick<ScratchDatabase, 'database'>): Promise<void> {
  for (let segment = 0; segment < SEGMENTS; segment++) {
    // Where nothing was written there is nothing to switch.
    await database.query(sql`SELECT pg_logical_emit_message(false, 'bench', '')`);
    await database.query(sql`SELECT pg_switch_wal()`);
  }
  await database.query(sql`CHECKPOINT`);
}
