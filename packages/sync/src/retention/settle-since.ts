import type { Chain } from '@chainstead/chains';
import type { BlockHeader } from '@chainstead/core';
import type { Database } from '@chainstead/db';
import type { UpstreamPool } from '@chainstead/rpc';
import { readChainState } from '../checkpoint.ts';
import type { KeepSettings } from '../keep-settings.ts';
import { firstStoredSince } from '../kept-from.ts';
import { readSettledHeight } from '../settled-height.ts';

export interface SinceOptions {
  readonly chain: Chain;
  readonly pool: UpstreamPool;
  readonly database: Database;
  readonly keep?: KeepSettings | undefined;
}

/**
 * Stores the headers on both sides of the time from which on rows are kept, so that stored headers tell which block that is. Asks upstreams where they don't
 * yet: a call for each halving of what is between.
 */
export async function settleKeptSince(
  { chain, pool, database, keep }: SinceOptions,
  signal: AbortSignal,
): Promise<void> {
  const since = keep?.since ?? null;
  const state = await readChainState(database, chain.id);
  if (since === null || state === null) return;
  const stored = await firstStoredSince(database, chain.id, since);
  const [later] = await database.query<{ block: number }>(
    'SELECT block_number AS block FROM blocks WHERE chain_id = $1 AND block_number >= $2 ORDER BY block_number LIMIT 1',
    [chain.id, stored],
  );
  const followed = state.checkpoint === null ? state.firstFollowed - 1 : state.checkpoint.number;
  let low = Math.max(stored, state.historyStart, chain.firstBlock);
  // What comes after is the follower's to store.
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
    if (header !== undefined) await storeHeader(database, chain, header);
  }
}

async function storeHeader(database: Database, chain: Chain, header: BlockHeader): Promise<void> {
  await database.query(
    `INSERT INTO blocks (chain_id, block_number, block_hash, parent_hash, block_timestamp)
     VALUES ($1, $2, decode($3, 'hex'), decode($4, 'hex'), to_timestamp($5)) ON CONFLICT DO NOTHING`,
    [chain.id, header.number, header.hash.slice(2), header.parentHash.slice(2), header.timestamp],
  );
}
