import { sql, tableName } from '@chainstead/db';
import type { Projection } from '@chainstead/sync';
import { poolLookups, poolReadings } from './schema.ts';

export const readingsOfPools: Projection = {
  name: 'pool-readings',
  version: 1,
  tables: [],
  added: () => [],
  removed: () => [],
  rolledBack: (chainId, ancestor) =>
    [poolReadings, poolLookups].map(
      (table) => sql`DELETE FROM ${tableName(table)} WHERE chain_id = ${chainId} AND block_number > ${ancestor}`,
    ),
  dropped: () => [],
};
