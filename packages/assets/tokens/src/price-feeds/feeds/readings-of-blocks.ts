import { sql } from '@chainstead/db';
import type { Projection } from '@chainstead/sync/datasets';

/** Deletes readings of blocks that a reorg or the retention removes. */
export const readingsOfBlocks: Projection = {
  name: 'feed-readings',
  version: 1,
  tables: [],
  added: () => [],
  removed: () => [],
  rolledBack: (chainId, ancestor) => [
    sql`DELETE FROM feed_readings WHERE chain_id = ${chainId} AND block_number > ${ancestor}`,
  ],
  dropped: (chainId, { from, to }) => [
    sql`DELETE FROM feed_readings WHERE chain_id = ${chainId} AND block_number BETWEEN ${from} AND ${to}`,
  ],
};
