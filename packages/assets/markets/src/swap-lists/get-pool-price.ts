import type { Chain } from '@chainstead/chains';
import { type Address, type Fraction, ZERO_ADDRESS } from '@chainstead/core';
import { hexBytes, type ReadDatabase, sql } from '@chainstead/db';
import type { PoolFacts } from '../pools/pool-creation.ts';
import { poolKey } from '../pools/pool-key.ts';
import { wholePriceOf } from '../pools/prices-in-pool.ts';
import { poolStateOf, STATE_COLUMNS, type StateColumns } from '../pools/stored-state.ts';
import type { PairOfTokens } from './get-pair-state.ts';

/** Whole tokens 1 per token 0. Null: no state, empty, or unknown decimals. */
export async function getPoolPrice(
  database: ReadDatabase,
  chain: Chain,
  { pool, token0, token1, tokens }: PairOfTokens,
  { from, to }: { readonly from: number; readonly to: number },
): Promise<Fraction | null> {
  const decimalsOf = (token: Address): number | null =>
    token === ZERO_ADDRESS
      ? chain.native.decimals
      : (tokens.find(({ address }) => address === token)?.decimals ?? null);
  const [decimals0, decimals1] = [decimalsOf(token0), decimalsOf(token1)];
  if (decimals0 === null || decimals1 === null) return null;
  const ofPool = sql`pool_key = ${poolKey(pool)}::bigint AND chain_id = ${chain.id}::bigint AND pool = ${hexBytes(pool)}::bytea`;
  const [row] = await database.select<StateColumns & Pick<PoolFacts, 'isStable' | 'tickSpacing'>>(
    sql`WITH known AS MATERIALIZED (SELECT is_stable, tick_spacing FROM pools WHERE ${ofPool}),
       state AS MATERIALIZED (SELECT ${STATE_COLUMNS} FROM pool_states
         WHERE ${ofPool} AND block_number BETWEEN ${from}::bigint AND ${to}::bigint ORDER BY block_number DESC LIMIT 1)
     SELECT known.*, state.* FROM known CROSS JOIN state`,
  );
  const state = row === undefined ? null : poolStateOf(row);
  if (row === undefined || state === null) return null;
  return wholePriceOf(state, { ...row, decimals: [decimals0, decimals1] });
}
