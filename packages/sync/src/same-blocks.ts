import type { Chain } from '@chainstead/chains';
import type { BlockRange } from '@chainstead/core';
import type { Transaction } from '@chainstead/db';
import type { BlockFacts } from './decoded-batch.ts';
import { ChainMovedError } from './errors.ts';

/**
 * Followed blocks that were read again must be those that are indexed: others belong to another branch, which is the
 * follower's business.
 * @throws ChainMovedError when one has another hash
 */
export async function requireSameBlocks(
  transaction: Transaction,
  chain: Chain,
  range: BlockRange,
  blocks: ReadonlyMap<number, Pick<BlockFacts, 'number' | 'hash'>>,
): Promise<void> {
  const [followed] = await transaction.query<{ first_followed: number }>(
    'SELECT first_followed FROM sync_chains WHERE chain_id = $1 AND first_followed <= $2',
    [chain.id, range.to],
  );
  if (followed === undefined) return;
  const read = [...blocks.values()].filter(({ number }) => number >= followed.first_followed);
  const [other] = await transaction.query<{ block_number: number }>(
    `SELECT b.block_number FROM blocks b
       JOIN unnest($2::bigint[], $3::text[]) AS read(number, hash) ON read.number = b.block_number
      WHERE b.chain_id = $1 AND b.block_hash <> decode(read.hash, 'hex') LIMIT 1`,
    [chain.id, read.map(({ number }) => number), read.map(({ hash }) => hash.slice(2))],
  );
  if (other !== undefined)
    throw new ChainMovedError({ chain: chain.key, what: `block ${other.block_number} is indexed with another hash` });
}
