import type { Chain } from '@chainstead/chains';
import { hexBytes, joinSql, type ReadDatabase, rawSql, type Sql, sql } from '@chainstead/db';
import { type PoolId, poolKey } from '@chainstead/markets/requests';
import type { StateSince } from './side-depths.ts';

export interface ReportedState extends Pick<StateSince, 'block' | 'since' | 'state'>, LogPlace {}

export interface LiquidityChange extends LogPlace {
  readonly block: number;
  readonly since: number;
  readonly tickLower: number;
  readonly tickUpper: number;
  /** Signed. */
  readonly liquidityDelta: bigint;
}

type LogPlace = { readonly transactionIndex: number; readonly logIndex: number };

/** At the end of blocks. @param changes oldest first, also those before the first state */
export function addLiquidityChanges(
  states: readonly ReportedState[],
  changes: readonly LiquidityChange[],
): readonly Pick<StateSince, 'block' | 'since' | 'state'>[] {
  const found: Pick<StateSince, 'block' | 'since' | 'state'>[] = [];
  const put = ({ block, since }: Pick<StateSince, 'block' | 'since'>, state: StateSince['state']): void => {
    if (found.at(-1)?.block === block) found.pop();
    found.push({ block, since, state });
  };
  let at = 0;
  for (const [index, reported] of states.entries()) {
    const next = states[index + 1];
    let { state } = reported;
    put(reported, state);
    for (let change = changes[at]; change !== undefined; change = changes[++at]) {
      if (next !== undefined && !isBefore(change, next)) break;
      if (state.of !== 'price' || !isBefore(reported, change)) continue;
      if (state.tick < change.tickLower || state.tick >= change.tickUpper) continue;
      const liquidity = state.liquidity + change.liquidityDelta;
      state = { ...state, liquidity: liquidity < 0n ? 0n : liquidity };
      put(change, state);
    }
  }
  return found;
}

type Place = LogPlace & { readonly block: number };

function isBefore(a: Place, b: Place): boolean {
  return (a.block - b.block || a.transactionIndex - b.transactionIndex || a.logIndex - b.logIndex) < 0;
}

export type ChangesOfPool = { readonly pool: PoolId; readonly first: number; readonly last: number };

export async function readLiquidityChanges(
  database: ReadDatabase,
  chain: Chain,
  pools: readonly ChangesOfPool[],
): Promise<readonly (readonly LiquidityChange[])[]> {
  if (pools.length === 0) return [];
  const rows = await database.select<
    Omit<LiquidityChange, 'liquidityDelta'> & {
      readonly position: number;
      readonly liquidityDelta: string | null;
    }
  >(liquidityChangesStatement(chain, pools));
  const byPool = Map.groupBy(rows, ({ position }) => position);
  return pools.map((_, index) =>
    (byPool.get(index) ?? []).map(({ position: _position, ...change }) => ({
      ...change,
      liquidityDelta: BigInt(change.liquidityDelta ?? 0),
    })),
  );
}

/** An index range of changes per pool (liquidity-in-range.explain.test.ts). */
export function liquidityChangesStatement(chain: Chain, pools: readonly ChangesOfPool[]): Sql {
  const chainId = sql`${chain.id}::bigint`;
  const ranges = pools.map(
    ({ pool, first, last }, position) =>
      sql`SELECT ${rawSql(position)} AS position, block_number, transaction_index, log_index, tick_lower, tick_upper, liquidity_delta::text FROM swaps
       WHERE pool_key = ${poolKey(pool)}::bigint AND chain_id = ${chainId} AND pool = ${hexBytes(pool)}::bytea
       AND block_number >= ${first}::bigint AND block_number <= ${last}::bigint AND kind <> 0 AND tick_lower IS NOT NULL`,
  );
  return sql`WITH change AS MATERIALIZED (${joinSql(ranges, ' UNION ALL ')})
     SELECT position, change.block_number AS block, transaction_index, log_index,
       tick_lower, tick_upper, liquidity_delta,
       extract(epoch FROM block_timestamp)::float8 AS since
     FROM change JOIN blocks ON blocks.chain_id = ${chainId} AND blocks.block_number = change.block_number
     ORDER BY position, change.block_number, transaction_index, log_index`;
}
