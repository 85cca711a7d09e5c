import type { ChainId, Hash } from '@chainstead/core';
import { type Database, hexTextOld, rawSql, sql } from '@chainstead/db';

/** A followed or backfilled block. */
export interface IndexedBlock {
  readonly number: number;
  readonly hash: Hash;
}

/** Blocks below the checkpoint. No chain normally reorganizes this deep. */
const SETTLED_DEPTH = 256;

/** Returns the oldest and a settled indexed block of a chain. Another node of the same chain must have them too. */
export function readKnownBlocks(database: Pick<Database, 'query'>, chainId: ChainId): Promise<IndexedBlock[]> {
  const block = `SELECT block_number AS number, ${hexTextOld('block_hash')} AS hash FROM blocks WHERE chain_id = $1`;
  return database.query<IndexedBlock>(
    sql`(${rawSql(block)} ORDER BY block_number LIMIT 1)
     UNION
     (${rawSql(block)} AND block_number <= (SELECT max(checkpoint) - ${SETTLED_DEPTH} FROM sync_chains WHERE chain_id = ${chainId})
       ORDER BY block_number DESC LIMIT 1)
     ORDER BY number`,
  );
}
