import type { Chain } from '@chainstead/chains';
import type { ChainId } from '@chainstead/core';
import { type Database, rawSql, sql, type Transaction } from '@chainstead/db';
import { type DueTable, dueChannel } from '@chainstead/jobs';
import type { CompiledStream } from '../matching/compile-stream.ts';

export const DEFERRED_MATCH_WORK = 'deferred-match';

/** Keys take turns: the oldest due block of each key comes first. */
// Invariant: FAIR-KEYS
export const DUE_DEFERRED_MATCHES: DueTable = {
  name: 'deferred_matches',
  key: ['key', 'chain_id', 'block_number'],
  isUrgent: sql`NOT EXISTS (
    SELECT FROM deferred_matches older WHERE older.key = deferred_matches.key AND older.chain_id = deferred_matches.chain_id
      AND older.block_number < deferred_matches.block_number AND coalesce(older.lease_until, older.due_at) <= now())`,
};

interface DeferredBlock {
  readonly block: { readonly header: { readonly number: number } };
  readonly streams: readonly CompiledStream[];
}

/** In the transaction of the block. */
export async function recordDeferred(
  transaction: Transaction,
  chain: Chain,
  deferred: readonly DeferredBlock[],
): Promise<void> {
  for (const { block, streams } of deferred)
    for (const [key, ofKey] of Map.groupBy(streams, (stream) => stream.key))
      await transaction.query(
        sql`INSERT INTO deferred_matches (key, chain_id, block_number, streams, due_at)
         VALUES (${key}, ${chain.id}, ${block.header.number}, ${ofKey.map(({ id }) => id)}::uuid[], now())
         ON CONFLICT (key, chain_id, block_number) DO UPDATE SET streams = excluded.streams, due_at = now()`,
      );
  if (deferred.length > 0) transaction.notify(dueChannel(DEFERRED_MATCH_WORK, chain.id));
}

/** Blocks that leave the chain: those that replace them are matched again. */
export async function forgetDeferred(transaction: Transaction, chain: Chain, ancestor: number): Promise<void> {
  await transaction.query(
    sql`DELETE FROM deferred_matches WHERE chain_id = ${chain.id} AND block_number > ${ancestor}`,
  );
}

export interface StreamDeferral {
  readonly streamId: string;
  readonly chainId: ChainId;
  readonly firstBlock: number;
  readonly blocks: number;
}

const BLOCKS_COUNTED_MAX = 100;

/** The oldest 100 blocks of the key count. */
export function readDeferred(
  database: Pick<Database, 'query'>,
  streamIds: readonly string[],
): Promise<readonly StreamDeferral[]> {
  return database.query<StreamDeferral>(
    sql`SELECT s.id AS stream_id, counted.chain_id, min(counted.block_number) AS first_block, count(*)::int AS blocks
     FROM streams s
     CROSS JOIN LATERAL (
       SELECT chain_id, block_number, streams FROM deferred_matches d WHERE d.key = coalesce(s.created_by, '')
       ORDER BY chain_id, block_number LIMIT ${rawSql(BLOCKS_COUNTED_MAX)}) AS counted
     WHERE s.id = ANY (${streamIds}::uuid[]) AND s.id = ANY (counted.streams)
     GROUP BY s.id, counted.chain_id ORDER BY s.id, counted.chain_id`,
  );
}
