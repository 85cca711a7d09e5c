import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import { addressBytes, type Database, hexBytes, hexText, sql, type Transaction } from '@chainstead/db';
import { type StateBlock, StateUnavailableError } from '@chainstead/node-reads/requests';
import { underCommitLock } from '@chainstead/sync/commit-retry';
import type { ProvenPool } from '../exchanges/prove-pool.ts';
import { poolKey } from '../pools/pool-key.ts';
import { storeFoundPool } from '../proofs/pool-rows.ts';
import type { StandingReading } from './look-back.ts';

export interface PoolLookup {
  readonly tokens: readonly Address[];
  readonly block: StateBlock;
  readonly pools: readonly ProvenPool[];
  readonly readings: readonly StandingReading[];
}

export const LOOKUP_MAX_AGE_SECONDS = 86_400;

/** The lock keeps the block canonical. @throws StateUnavailableError if a reorg removed it */
export async function saveLookup(database: Database, chain: Chain, lookup: PoolLookup): Promise<void> {
  const { tokens, block, pools, readings } = lookup;
  await underCommitLock(database, chain, async (transaction) => {
    const known = await transaction.query(
      sql`SELECT FROM blocks WHERE chain_id = ${chain.id} AND block_number = ${block.number} AND block_hash = ${hexBytes(block.hash)}`,
    );
    if (known.length === 0)
      throw new StateUnavailableError(`Block ${block.number} was reorganized away while pools were read at it`);
    const proven = await provenPools(transaction, chain, pools);
    for (const pool of pools)
      if (!proven.has(pool.pool)) await storeFoundPool(transaction, chain, pool, block.number);
    const found = new Set<string>(pools.map(({ pool }) => pool));
    const ofPools = readings.filter(({ pool }) => found.has(pool));
    await addReadings(transaction, chain, ofPools);
    await transaction.query(
      sql`INSERT INTO pool_lookups (token, chain_id, block_number) SELECT token, ${chain.id}, ${block.number} FROM unnest(${tokens.map(addressBytes)}::bytea[]) AS given (token) ORDER BY token
       ON CONFLICT (token, chain_id) DO UPDATE SET block_number = excluded.block_number, looked_up_at = now()`,
    );
    await transaction.query(
      sql`DELETE FROM pool_lookups WHERE chain_id = ${chain.id} AND looked_up_at < now() - make_interval(secs => ${LOOKUP_MAX_AGE_SECONDS})`,
    );
  });
}

async function provenPools(transaction: Transaction, { id }: Pick<Chain, 'id'>, pools: readonly ProvenPool[]) {
  const rows = await transaction.query<{ pool: string }>(
    sql`SELECT ${hexText('pool')} AS pool FROM pools WHERE pool_key = ANY (${pools.map(({ pool }) => poolKey(pool))}::bigint[]) AND chain_id = ${id} AND pool = ANY (${pools.map(({ pool }) => hexBytes(pool))}::bytea[])
     AND status = 'proven'`,
  );
  return new Set(rows.map(({ pool }) => pool));
}

async function addReadings(
  transaction: Transaction,
  { id }: Pick<Chain, 'id'>,
  readings: readonly StandingReading[],
) {
  const columns = readings.map(({ pool, state, block, stoodSince }) => {
    const [reserves, price] = state.of === 'reserves' ? [state, null] : [null, state];
    return {
      ...{ key: poolKey(pool), pool: hexBytes(pool), block, stoodSince, tick: price?.tick ?? null },
      ...{ reserve0: textOf(reserves?.reserve0), reserve1: textOf(reserves?.reserve1) },
      ...{ price: textOf(price?.sqrtPriceX96), liquidity: textOf(price?.liquidity) },
    };
  });
  await transaction.query(
    sql`INSERT INTO pool_readings (pool_key, chain_id, block_number, stood_since, tick, pool, reserve0, reserve1, sqrt_price_x96, liquidity)
     SELECT pool_key, ${id}, block, stood_since, tick, pool, reserve0, reserve1, price, liquidity
     FROM unnest(${columns.map(({ key }) => key)}::bigint[], ${columns.map(({ pool }) => pool)}::bytea[], ${columns.map(({ block }) => block)}::int[],
         ${columns.map(({ stoodSince }) => stoodSince)}::bigint[], ${columns.map(({ tick }) => tick)}::int[],
         ${columns.map(({ reserve0 }) => reserve0)}::numeric[], ${columns.map(({ reserve1 }) => reserve1)}::numeric[],
         ${columns.map(({ price }) => price)}::numeric[], ${columns.map(({ liquidity }) => liquidity)}::numeric[])
       AS given (pool_key, pool, block, stood_since, tick, reserve0, reserve1, price, liquidity)
     ON CONFLICT (pool_key, chain_id, block_number, pool) DO NOTHING`,
  );
}

function textOf(value: bigint | undefined): string | null {
  return value === undefined ? null : value.toString();
}
