import { sql } from '@chainstead/db';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { describe, expect, it, vi } from 'vitest';
import { holdStreamsVersion, raiseStreamsVersion } from './stream-addresses.ts';

const scratch = scratchOfFile();

/** Holds the version from the resolved promise until `release` is called. */
async function hold(): Promise<{ readonly version: number; release(): Promise<void> }> {
  const end = Promise.withResolvers<void>();
  const held = Promise.withResolvers<number>();
  const done = scratch.database.transaction(async (transaction) => {
    held.resolve(await holdStreamsVersion(transaction));
    await end.promise;
  });
  done.catch(held.reject);
  const version = await held.promise;
  return {
    version,
    async release() {
      end.resolve();
      await done;
    },
  };
}

async function waiting(): Promise<number> {
  const [row] = await scratch.database.query<{ count: number }>(
    sql`SELECT count(*) AS count FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
  );
  return row?.count ?? 0;
}

describe("the streams' version", () => {
  it('changes although others want to hold it all the time', async () => {
    const early = await hold();
    const raised = scratch.database.transaction(raiseStreamsVersion);
    await vi.waitFor(async () => expect(await waiting()).toBe(1));
    const late = hold();
    await vi.waitFor(async () => expect(await waiting()).toBe(2));
    await early.release();
    expect(await raised).toBe(early.version + 1);
    const held = await late;
    expect(held.version).toBe(early.version + 1);
    await held.release();
  });
});
