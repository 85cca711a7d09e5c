import { sql, tableName } from '@chainstead/db';
import { logDataset, type Projection } from '@chainstead/sync/datasets';
import { decodePoolEvent, STATE_EVENT_TOPICS } from '../events/decode-pool-event.ts';
import { exchangesOf } from '../exchanges/custom-exchanges.ts';
import { poolLookups, poolReadings } from '../pool-readings/schema.ts';
import { poolKey } from '../pools/pool-creation.ts';
import { poolStates as table } from '../tables/schema.ts';

const readingsOfPools: Projection = {
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

export const poolStates = logDataset({
  name: 'pool-states',
  topics: () => STATE_EVENT_TOPICS,
  table,
  lastOfBlock: 'pool',
  rows(log, { chain }) {
    const event = decodePoolEvent(log, exchangesOf(chain).vaults);
    if (event === null || event.kind === 'liquidity' || event.state === null) return [];
    const { pool, state } = event;
    return {
      ...{ poolKey: poolKey(pool), pool },
      tick: state.of === 'price' ? state.tick : state.of === 'bin' ? state.activeId : null,
      reserve0: state.of === 'reserves' ? state.reserve0.toString() : null,
      reserve1: state.of === 'reserves' ? state.reserve1.toString() : null,
      sqrtPriceX96: state.of === 'price' ? state.sqrtPriceX96.toString() : null,
      liquidity: state.of === 'price' ? state.liquidity.toString() : null,
    };
  },
  projections: [readingsOfPools],
  isKeptWhole: true,
});
