/** A chain's row in `sync_chains`: the follower's position. */
import type { Chain } from '@chainstead/chains';
import { type ChainId, type Hash, parseHash } from '@chainstead/core';
import { type Database, sql, type Transaction } from '@chainstead/db';
import { CheckpointMovedError } from './errors.ts';

export interface Checkpoint {
  readonly number: number;
  readonly hash: Hash;
}

export interface ChainState {
  readonly historyStart: number;
  readonly firstFollowed: number;
  readonly checkpoint: Checkpoint | null;
}

interface ChainRow {
  history_start: number;
  first_followed: number;
  checkpoint: number | null;
  checkpoint_hash: Buffer | null;
}

/** Returns null before the chain's first start. */
export async function readChainState(source: Pick<Database, 'query'>, chainId: ChainId): Promise<ChainState | null> {
  const [row] = await source.query<ChainRow>(
    sql`SELECT history_start, first_followed, checkpoint, checkpoint_hash FROM sync_chains WHERE chain_id = ${chainId}`,
  );
  if (row === undefined) return null;
  const checkpoint =
    row.checkpoint === null || row.checkpoint_hash === null
      ? null
      : { number: row.checkpoint, hash: parseHash(`0x${row.checkpoint_hash.toString('hex')}`) };
  return { historyStart: row.history_start, firstFollowed: row.first_followed, checkpoint };
}

/**
 * Creates the chain's row or moves its start of historical blocks. The first followed block is fixed once a block was
 * followed.
 */
export async function saveChainStart(
  database: Database,
  { id, key }: Pick<Chain, 'id' | 'key'>,
  historyStart: number,
  firstFollowed: number,
): Promise<void> {
  await database.query(
    sql`INSERT INTO sync_chains (chain_id, chain_key, history_start, first_followed) VALUES (${id}, ${key}, ${historyStart}, ${firstFollowed})
     ON CONFLICT (chain_id) DO UPDATE SET chain_key = excluded.chain_key,
       history_start = excluded.history_start, updated_at = now(),
       first_followed = CASE WHEN sync_chains.checkpoint IS NULL THEN excluded.first_followed ELSE sync_chains.first_followed END`,
  );
}

/**
 * Moves the checkpoint from `from` to `to` inside the block's transaction.
 * @throws CheckpointMovedError if it is not at `from`: another process is ahead, and nothing may be written.
 */
export async function moveCheckpoint(
  transaction: Transaction,
  chain: Chain,
  from: Checkpoint | null,
  to: Checkpoint,
): Promise<void> {
  const moved = await transaction.query(
    sql`UPDATE sync_chains SET checkpoint = ${to.number}, checkpoint_hash = decode(${to.hash.slice(2)}, 'hex'), stall_reason = NULL,
            stop_code = NULL, stop_message = NULL, updated_at = now()
      WHERE chain_id = ${chain.id} AND checkpoint IS NOT DISTINCT FROM ${from?.number ?? null}
        AND checkpoint_hash IS NOT DISTINCT FROM decode(${from?.hash.slice(2) ?? null}, 'hex') RETURNING chain_id`,
  );
  if (moved.length !== 1) throw new CheckpointMovedError({ chain: chain.key, expected: from?.number ?? null });
}

/** Returns the indexed block hash at a height; null if the block is not stored. */
export async function storedHash(
  source: Pick<Database, 'query'>,
  chainId: ChainId,
  number: number,
): Promise<Hash | null> {
  const [row] = await source.query<{ block_hash: Buffer }>(
    sql`SELECT block_hash FROM blocks WHERE chain_id = ${chainId} AND block_number = ${number}`,
  );
  return row === undefined ? null : parseHash(`0x${row.block_hash.toString('hex')}`);
}
