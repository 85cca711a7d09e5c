import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import { hexBytes, hexText, type ReadDatabase, sql } from '@chainstead/db';
import { readTokenBook } from '@chainstead/tokens/token-book';
import { nativeTokenOf } from '../anchors/anchors-of-chain.ts';
import type { PoolId } from '../events/pool-event.ts';
import { poolKey } from '../pools/pool-key.ts';
import type { FiguredPool } from '../trade-values/figured-pool.ts';

export async function readPoolFacts(
  database: ReadDatabase,
  chain: Chain,
  pools: readonly PoolId[],
): Promise<readonly FiguredPool[]> {
  const proven = await database.select<{
    readonly pool: PoolId;
    readonly token0: Address;
    readonly token1: Address;
  }>(
    sql`SELECT ${hexText('pool')} AS pool, ${hexText('token0')} AS token0, ${hexText('token1')} AS token1 FROM pools
     WHERE pool_key = ANY (${pools.map(poolKey)}::bigint[]) AND chain_id = ${chain.id} AND pool = ANY (${pools.map(hexBytes)}::bytea[])
       AND status = 'proven' AND token0 IS NOT NULL AND token1 IS NOT NULL`,
  );
  const tokens = proven.flatMap(({ token0, token1 }) => [token0, token1]);
  const factsOf = await readTokenBook(database, chain, tokens, nativeTokenOf(chain));
  return proven.map((pool) => ({
    ...pool,
    decimals: [factsOf(pool.token0).decimals, factsOf(pool.token1).decimals],
  }));
}
