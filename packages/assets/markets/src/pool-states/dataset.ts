import type { Log } from '@chainstead/core';
import { sql, tableName } from '@chainstead/db';
import { type Dataset, type DecodeContext, defineTable, type Projection } from '@chainstead/sync/datasets';
import { decodePoolEvent, STATE_EVENT_TOPICS } from '../events/decode-pool-event.ts';
import type { PoolId, PoolState } from '../events/pool-event.ts';
import { exchangesOf } from '../exchanges/custom-exchanges.ts';
import { poolLookups, poolReadings } from '../pool-readings/schema.ts';
import { poolKey } from '../pools/pool-key.ts';
import { type PoolStateRow, poolStates as table } from '../tables/schema.ts';

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

export const poolStates: Dataset<PoolStateRow> = {
  name: 'pool-states',
  topics: () => STATE_EVENT_TOPICS,
  table: defineTable(table),
  decode,
  projections: [readingsOfPools],
  isKeptWhole: true,
};

function decode(logs: readonly Log[], { chain }: DecodeContext): PoolStateRow[] {
  const { vaults } = exchangesOf(chain);
  const last = new Map<string, { readonly log: Log; readonly pool: PoolId; readonly state: PoolState }>();
  for (const log of logs) {
    const event = decodePoolEvent(log, vaults);
    if (event === null || event.kind === 'liquidity' || event.state === null) continue;
    last.set(`${log.blockNumber} ${event.pool}`, { log, pool: event.pool, state: event.state });
  }
  return [...last.values()].map(({ log, pool, state }) => ({
    poolKey: poolKey(pool),
    chainId: chain.id,
    blockNumber: log.blockNumber,
    transactionIndex: log.transactionIndex,
    logIndex: log.logIndex,
    pool,
    tick: state.of === 'price' ? state.tick : state.of === 'bin' ? state.activeId : null,
    reserve0: state.of === 'reserves' ? state.reserve0.toString() : null,
    reserve1: state.of === 'reserves' ? state.reserve1.toString() : null,
    sqrtPriceX96: state.of === 'price' ? state.sqrtPriceX96.toString() : null,
    liquidity: state.of === 'price' ? state.liquidity.toString() : null,
  }));
}
