import { logDataset } from '@chainstead/sync/datasets';
import { exchangesOf } from '../exchanges/custom-exchanges.ts';
import { decodePoolCreation } from '../exchanges/prove-pool.ts';
import { poolKey } from '../pools/pool-creation.ts';
import { poolsOfCreations } from '../proofs/pool-worker.ts';
import { poolCreations as table } from '../tables/schema.ts';

export const poolCreations = logDataset({
  name: 'pool-creations',
  topics: (chain) => exchangesOf(chain).creationTopics,
  emitters: (chain) => [...exchangesOf(chain).byFactory.keys()],
  table,
  rows(log, { chain }) {
    const created = decodePoolCreation(log, exchangesOf(chain));
    if (created === null) return [];
    const { pool, tokens, fee, tickSpacing, isStable, hooks } = created;
    const [token0 = null, token1 = null] = tokens ?? [];
    return {
      poolKey: poolKey(pool),
      pool,
      factory: log.address,
      token0,
      token1,
      fee,
      tickSpacing,
      isStable,
      hooks,
    };
  },
  projections: [poolsOfCreations],
});
