import type { Chain } from '@chainstead/chains';
import { sql, type Transaction } from '@chainstead/db';
import { IS_FOLLOWED, IS_LINKED } from '../coverage/linked-blocks.ts';
import { ReorgedWhileReadingError } from '../errors.ts';
import type { BlockFacts } from '../read/decoded-batch.ts';

/**
 * Only the follower handles another branch.
 * @param isLinked the blocks are tied to the chain, so they may replace others below the first followed one
 * @throws ReorgedWhileReadingError
 */
export async function requireSameBlocks(
  transaction: Transaction,
  chain: Chain,
  blocks: ReadonlyMap<number, Pick<BlockFacts, 'number' | 'hash'>>,
  isLinked: boolean,
): Promise<void> {
  const read = [...blocks.values()];
  if (read.length === 0) return;
  // Invariant: SYNC-SAME-HASH
  const [other] = await transaction.query<{ block: number }>(
    sql`SELECT b.block_number AS block FROM blocks b
       JOIN unnest(${read.map(({ number }) => number)}::bigint[], ${read.map(({ hash }) => hash.slice(2))}::text[]) AS read(number, hash) ON read.number = b.block_number
      WHERE b.chain_id = ${chain.id} AND b.block_hash <> decode(read.hash, 'hex') AND ${isLinked ? IS_FOLLOWED : IS_LINKED} LIMIT 1`,
  );
  if (other === undefined) return;
  throw new ReorgedWhileReadingError({
    chain: chain.key,
    what: `block ${other.block} is indexed with another hash`,
  });
}

/** Needs the commit lock, as a rollback. @throws ReorgedWhileReadingError */
export async function requireIndexedBlocks(
  transaction: Transaction,
  chain: Chain,
  blocks: ReadonlyMap<number, Pick<BlockFacts, 'number' | 'hash'>>,
): Promise<void> {
  const read = [...blocks.values()];
  const [indexed] = await transaction.query<{ count: number }>(
    sql`SELECT count(*)::int AS count FROM blocks b
       JOIN unnest(${read.map(({ number }) => number)}::bigint[], ${read.map(({ hash }) => hash.slice(2))}::text[]) AS read(number, hash) ON read.number = b.block_number
      WHERE b.chain_id = ${chain.id} AND b.block_hash = decode(read.hash, 'hex')`,
  );
  // Invariant: SYNC-SAME-HASH
  if (indexed?.count === read.length) return;
  throw new ReorgedWhileReadingError({
    chain: chain.key,
    what: `blocks of ${read[0]?.number} to ${read.at(-1)?.number} are not indexed, or with another hash`,
  });
}
