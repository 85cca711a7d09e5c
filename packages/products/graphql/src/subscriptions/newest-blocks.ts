import type { Clock } from '@chainstead/core';
import { sql } from '@chainstead/db';
import { type Reader, readRows } from '../reading/reader.ts';

export interface NewestBlocks {
  /** Resolves when the newest block isn't `seen`, or on abort. @throws GraphqlRefusalError */
  changedFrom(chainId: string, seen: string | null, signal: AbortSignal): Promise<string>;
}

const INTERVAL_MS = 500;
/** Short reads that all keys share take turns with those of one key. */
const ALL_KEYS = '';

/** Commits of blocks send no notification, so subscriptions poll their table. */
export function createNewestBlocks(reader: Reader, clock: Clock): NewestBlocks {
  const reads = new Map<string, Promise<string>>();
  const readAt = new Map<string, number>();

  async function read(chainId: string): Promise<string> {
    await clock.sleep(Math.max(0, (readAt.get(chainId) ?? 0) + INTERVAL_MS - clock.now()));
    readAt.set(chainId, clock.now());
    const [newest] = await reader.inTurn(ALL_KEYS, (withClient) =>
      readRows<{ block: string }>(
        withClient,
        sql`SELECT block_number || ' ' || block_hash AS block FROM analytics.blocks
         WHERE chain_id = ${chainId}::bigint ORDER BY block_number DESC LIMIT 1`,
      ),
    );
    return newest?.block ?? '';
  }

  function shared(chainId: string): Promise<string> {
    const known = reads.get(chainId);
    if (known !== undefined) return known;
    const block = read(chainId).finally(() => reads.delete(chainId));
    reads.set(chainId, block);
    return block;
  }

  return {
    async changedFrom(chainId, seen, signal) {
      for (;;) {
        const block = await shared(chainId);
        if (block !== seen || signal.aborted) return block;
      }
    },
  };
}
