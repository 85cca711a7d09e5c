/** A story takes a second or two, and the program needs half of that to start: what befalls it at work has to wait for that. */
import type { Clock } from '@chainstead/core';
import { type Database, sql } from '@chainstead/db';

const TIMEOUT_MS = 15_000;
/** For work that two kills have interrupted, on a busy machine. */
const RETRY_TIMEOUT_MS = 90_000;
const POLL_MS = 10;

/** What it wrote or moved so far, as text. */
export async function readProgress(database: Database): Promise<string> {
  const [row] = await database.query<{ progress: string }>(
    sql`SELECT concat_ws(' ', (SELECT count(*) FROM sync_ranges), (SELECT max(checkpoint) FROM sync_chains),
       (SELECT count(*) FROM erc20_transfer_sides), (SELECT count(*) FROM nft_transfers)) AS progress`,
  );
  return row?.progress ?? '';
}

/** Waits until it has written or moved something since `before`; no longer than it may take to start. */
export async function untilAtWork(database: Database, before: string, clock: Clock): Promise<void> {
  const deadline = clock.now() + TIMEOUT_MS;
  while ((await readProgress(database)) === before && clock.now() < deadline) await clock.sleep(POLL_MS);
}

/** Waits while work runs that was interrupted twice: a third kill would quarantine it, as a program does with work that ends it. */
export async function untilKillIsHarmless(database: Database, clock: Clock): Promise<void> {
  const deadline = clock.now() + RETRY_TIMEOUT_MS;
  for (;;) {
    const rows = await database.query(
      sql`SELECT 1 FROM quarantined_work AS suspect JOIN inflight_work AS running ON suspect.name = ANY (running.items)
        WHERE suspect.crashes >= 2 LIMIT 1`,
    );
    if (rows.length === 0 || clock.now() > deadline) return;
    await clock.sleep(POLL_MS);
  }
}
