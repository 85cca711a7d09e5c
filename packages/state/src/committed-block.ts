import type { Chain } from '@chainstead/chains';
import type { Hash } from '@chainstead/core';
import { type Database, hexText } from '@chainstead/db';

/** A block whose state is asked for. */
export interface StateBlock {
  readonly number: number;
  readonly hash: Hash;
  /** Unix seconds. */
  readonly timestamp: number;
}

/**
 * The newest committed block: the follower's checkpoint, or where a chain is only backfilled the newest block that is known of what is covered.
 * Null where nothing is indexed.
 */
export async function committedBlock(database: Database, chain: Pick<Chain, 'id'>): Promise<StateBlock | null> {
  const [block] = await database.query<StateBlock>(
    `SELECT ${COLUMNS} FROM blocks
     WHERE chain_id = $1 AND block_number <= coalesce(
       (SELECT checkpoint FROM sync_chains WHERE chain_id = $1), (SELECT max(last_block) FROM sync_ranges WHERE chain_id = $1))
     ORDER BY block_number DESC LIMIT 1`,
    [chain.id],
  );
  return block ?? null;
}

/** A committed block by its number; null where it is not known: backfilled blocks are only where they caused a row. */
export async function knownBlock(
  database: Database,
  chain: Pick<Chain, 'id'>,
  number: number,
): Promise<StateBlock | null> {
  const [block] = await database.query<StateBlock>(
    `SELECT ${COLUMNS} FROM blocks WHERE chain_id = $1 AND block_number = $2`,
    [chain.id, number],
  );
  return block ?? null;
}

const COLUMNS = `block_number AS number, ${hexText('block_hash')} AS hash, extract(epoch FROM block_timestamp)::bigint AS timestamp`;
