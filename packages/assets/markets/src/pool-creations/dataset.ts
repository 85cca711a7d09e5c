import type { Log } from '@chainstead/core';
import { type Dataset, type DecodeContext, defineTable } from '@chainstead/sync/datasets';
import { exchangesOf } from '../exchanges/custom-exchanges.ts';
import { decodePoolCreation } from '../exchanges/prove-pool.ts';
import { poolKey } from '../pools/pool-key.ts';
import { poolsOfCreations } from '../proofs/discovered-pools.ts';
import { type PoolCreationRow, poolCreations as table } from '../tables/schema.ts';

export const poolCreations: Dataset<PoolCreationRow> = {
  name: 'pool-creations',
  topics: (chain) => exchangesOf(chain).creationTopics,
  emitters: (chain) => [...exchangesOf(chain).byFactory.keys()],
  table: defineTable(table),
  decode,
  projections: [poolsOfCreations],
};

function decode(logs: readonly Log[], { chain }: DecodeContext): PoolCreationRow[] {
  const exchanges = exchangesOf(chain);
  return logs.flatMap((log) => {
    const created = decodePoolCreation(log, exchanges);
    if (created === null) return [];
    const { pool, tokens, fee, tickSpacing, isStable, hooks } = created;
    const { address: factory, blockNumber, transactionIndex, logIndex, transactionHash } = log;
    const [token0 = null, token1 = null] = tokens ?? [];
    return {
      ...{ poolKey: poolKey(pool), chainId: chain.id, blockNumber, transactionIndex, logIndex, transactionHash },
      ...{ pool, factory, token0, token1, fee, tickSpacing, isStable, hooks },
    };
  });
}
