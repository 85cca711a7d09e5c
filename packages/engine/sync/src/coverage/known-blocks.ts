import type { ChainId, Hash } from '@chainstead/core';
import { type Database, hexText, sql } from '@chainstead/db';

export interface IndexedBlock {
  readonly number: number;
  readonly hash: Hash;
}

/** Blocks below the checkpoint. No chain normally reorganizes this deep. */
const SETTLED_DEPTH = 256;

/** Another node of the same chain must have both. */
export function readKnownBlocks(database: Pick<Database, 'query'>, chainId: ChainId): Promise<IndexedBlock[]> {
  const ofChain = sql`chain_id = ${chainId}`;
  const block = sql`SELECT block_number AS number, ${hexText('block_hash')} AS hash FROM blocks WHERE ${ofChain}`;
  return database.query<IndexedBlock>(
    sql`(${block} ORDER BY block_number LIMIT 1)
     UNION
     (${block} AND block_number <= (SELECT max(checkpoint) - ${SETTLED_DEPTH} FROM sync_chains WHERE ${ofChain})
       ORDER BY block_number DESC LIMIT 1)
     ORDER BY number`,
  );
}
