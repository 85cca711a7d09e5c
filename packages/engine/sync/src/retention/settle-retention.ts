import { type BlockHeader, errorText } from '@chainstead/core';
import { sql } from '@chainstead/db';
import type { UpstreamPool } from '@chainstead/rpc';
import { readChainState } from '../checkpoint.ts';
import { firstStoredSince } from '../coverage/retained-from.ts';
import { readSettledHeight } from '../coverage/settled-height.ts';
import { finishDropping } from './enforce-retention.ts';
import type { RetentionOptions } from './retention-options.ts';

const TRY_AGAIN_MS = 5_000;

/** Half dropped partitions would drop new rows. Retries until done. @throws only if aborted */
export async function settleRetention(
  options: RetentionOptions & SinceOptions,
  signal: AbortSignal,
): Promise<void> {
  const { chain, clock, logger } = options;
  for (;;) {
    try {
      if (await finishDropping(options, signal)) return await settleRetainedSince(options, signal);
    } catch (error) {
      signal.throwIfAborted();
      logger.warn(
        { chain: chain.key, error: errorText(error) },
        'Retention window not found yet; the backfill waits for it, retrying',
      );
    }
    await clock.sleep(TRY_AGAIN_MS, signal);
  }
}

type SinceOptions = Pick<RetentionOptions, 'chain' | 'database' | 'retention'> & { readonly pool: UpstreamPool };

/** The headers on both sides of the start time. Bisects with one upstream call per step. */
export async function settleRetainedSince(
  { chain, pool, database, retention }: SinceOptions,
  signal: AbortSignal,
): Promise<void> {
  const since = retention?.since ?? null;
  const state = await readChainState(database, chain.id);
  if (since === null || state === null) return;
  const stored = await firstStoredSince(database, chain.id, since);
  const [later] = await database.query<{ block: number }>(
    sql`SELECT block_number AS block FROM blocks WHERE chain_id = ${chain.id} AND block_number >= ${stored} ORDER BY block_number LIMIT 1`,
  );
  const followed = state.checkpoint === null ? state.firstFollowed - 1 : state.checkpoint.number;
  let low = Math.max(stored, state.historyStart, chain.firstBlock);
  let high = later?.block ?? Math.min(followed, await readSettledHeight(pool, chain)) + 1;
  const headers = new Map<number, BlockHeader>();
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const header = (await pool.getHeaders([middle], { signal }))[0]?.value;
    if (header === undefined) throw new RangeError(`No upstream gave the header of block ${middle}`);
    headers.set(middle, header);
    if (header.timestamp * 1_000 < since.getTime()) low = middle + 1;
    else high = middle;
  }
  for (const number of [low - 1, low]) {
    const header = headers.get(number);
    if (header === undefined) continue;
    await database.query(
      sql`INSERT INTO blocks (chain_id, block_number, block_hash, parent_hash, block_timestamp)
       VALUES (${chain.id}, ${header.number}, decode(${header.hash.slice(2)}, 'hex'), decode(${header.parentHash.slice(2)}, 'hex'), to_timestamp(${header.timestamp})) ON CONFLICT DO NOTHING`,
    );
  }
}
