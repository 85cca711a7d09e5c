import type { ChainId, Hash } from '@chainstead/core';
import { type Database, hexText } from '@chainstead/db';

/** A block that was followed or read, by its hash. */
export interface IndexedBlock {
  readonly number: number;
  readonly hash: Hash;
}

/** So far below the checkpoint nothing is taken back on any chain in ordinary times. Blocks. */
const SETTLED_DEPTH = 256;

/** A few blocks of what is indexed of a chain, the oldest and a settled one: what another node has to have, too. */
export function readKnownBlocks(database: Pick<Database, 'query'>, chainId: ChainId): Promise<IndexedBlock[]> {
  const block = `SELECT block_number AS number, ${hexText('block_hash')} AS hash FROM blocks WHERE chain_id = $1`;
  return database.query<IndexedBlock>(
    `(${block} ORDER BY block_number LIMIT 1)
     UNION
     (${block} AND block_number <= (SELECT max(checkpoint) - $2 FROM sync_chains WHERE chain_id = $1)
       ORDER BY block_number DESC LIMIT 1)
     ORDER BY number`,
    [chainId, SETTLED_DEPTH],
  );
}
