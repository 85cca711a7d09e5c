import { type Database, sql } from '@chainstead/db';
import type { Devnet } from '@chainstead/testkit';
import { expect, vi } from 'vitest';

/** Waits until the newest block of the devnet is indexed. */
export async function untilCaughtUp({ client }: Devnet, database: Database): Promise<void> {
  await vi.waitFor(
    async () => {
      const { hash } = await client.getBlock();
      const [row] = await database.query<{ hash: string | null }>(
        sql`SELECT '0x' || encode(checkpoint_hash, 'hex') AS hash FROM sync_chains`,
      );
      expect(row?.hash).toBe(hash);
    },
    { timeout: 60_000, interval: 20 },
  );
}
