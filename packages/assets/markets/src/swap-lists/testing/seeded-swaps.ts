import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import { type Database, hexBytes, rawSql, sql } from '@chainstead/db';
import { runProjection } from '@chainstead/sync/ingest';
import { addressOf, coverBlocks, createPartitions, hashOf, storeToken, timestampOf } from '@chainstead/testkit';
import type { PoolId } from '../../events/pool-event.ts';
import { poolStates } from '../../pool-states/dataset.ts';
import { poolKey } from '../../pools/pool-creation.ts';
import { swaps } from '../../swaps/dataset.ts';
import type { PoolStateRow, PoolStatus, SwapRow } from '../../tables/schema.ts';
import { tradesOfProvenPools } from '../../trades/trades-projection.ts';

/** A pool to seed. Default: proven and counted. */
export interface SeededPool {
  readonly pool: PoolId;
  readonly tokens: readonly [Address, Address] | null;
  readonly status?: PoolStatus;
  readonly isCounted?: boolean;
  readonly exchange?: string;
  readonly factory?: Address;
  readonly tickSpacing?: number;
}

/** Stores pools as a worker does after their proofs. */
export async function seedPools(database: Database, chain: Chain, pools: readonly SeededPool[]): Promise<void> {
  for (const {
    pool,
    tokens,
    status = 'proven',
    isCounted = true,
    exchange,
    factory,
    tickSpacing = null,
  } of pools)
    await database.query(
      sql`INSERT INTO pools (pool_key, chain_id, pool, status, proof, exchange, factory, token0, token1, is_counted, tick_spacing, due_at)
       VALUES (${poolKey(pool)}, ${chain.id}, ${hexBytes(pool)}, ${status}, ${status === 'proven' ? 'factory' : null}, ${status === 'proven' ? (exchange ?? 'Uniswap v2') : null}, ${status === 'proven' ? hexBytes(factory ?? addressOf(0xfac)) : null}, ${tokens === null ? null : hexBytes(tokens[0] ?? '')}, ${tokens === null ? null : hexBytes(tokens[1] ?? '')}, ${status === 'proven' && isCounted}, ${tickSpacing}, NULL)`,
    );
}

/** Returns a stored swap: 1 of token 0 for 2 of token 1 by default, in base units. */
export function swapRow(
  chain: Chain,
  given: Partial<SwapRow> & Pick<SwapRow, 'pool' | 'token0' | 'token1' | 'blockNumber'>,
): SwapRow {
  const { transactionIndex = 0 } = given;
  return {
    poolKey: poolKey(given.pool as PoolId),
    chainId: chain.id,
    transactionIndex,
    logIndex: 0,
    tickLower: null,
    tickUpper: null,
    kind: 0,
    amount0: '1',
    amount1: '-2',
    liquidityDelta: null,
    vault: null,
    wallet: addressOf(0xa11ce),
    beneficiary: null,
    transactionHash: hashOf(2, given.blockNumber * 1_000 + transactionIndex),
    ...given,
  };
}

/** Writes swaps with their blocks and trades, as the sync engine does. Partitions begin at the cuts, unless the chain has any. */
export async function seedSwaps(
  database: Database,
  chain: Chain,
  rows: readonly SwapRow[],
  cuts: readonly number[] = [],
): Promise<void> {
  await database.transaction(async (transaction) => {
    await createPartitions(transaction, 'swaps', chain.id, cuts);
    await transaction.query(sql`CREATE TEMP TABLE added_swaps (LIKE swaps) ON COMMIT DROP`);
    await transaction.copy('added_swaps', swaps.table.columns, rows.map(swaps.table.copyLine));
    await transaction.query(sql`INSERT INTO swaps SELECT * FROM added_swaps`);
    await runProjection(transaction, false, (access) =>
      tradesOfProvenPools.added({ rows: rawSql('added_swaps'), subjects: rawSql(''), access }),
    );
    const numbers = [...new Set(rows.map(({ blockNumber }) => blockNumber))];
    await transaction.query(
      sql`INSERT INTO blocks (chain_id, block_number, block_hash, block_timestamp)
       SELECT ${chain.id}, * FROM unnest(${numbers}::bigint[], ${numbers.map((number) => hexBytes(hashOf(1, number)))}::bytea[], ${numbers.map((number) => new Date(timestampOf(number) * 1_000).toISOString())}::timestamptz[]) ON CONFLICT DO NOTHING`,
    );
  });
}

/** Writes states of pools as the engine does. */
export async function seedStates(database: Database, chain: Chain, rows: readonly PoolStateRow[]): Promise<void> {
  await database.transaction(async (transaction) => {
    await createPartitions(transaction, 'pool_states', chain.id);
    await transaction.copy('pool_states', poolStates.table.columns, rows.map(poolStates.table.copyLine));
  });
}

/** Stores a range as covered by a dataset. */
export async function cover(database: Database, chain: Chain, dataset: string, last: number): Promise<void> {
  await coverBlocks(database, chain.id, dataset, 0, last);
}

/** Stores known facts of a token. */
export async function seedToken(
  database: Database,
  chain: Chain,
  token: Address,
  symbol: string,
  decimals: number,
): Promise<void> {
  await storeToken(database, chain.id, token, {
    name: `${symbol} token`,
    symbol,
    decimals,
    facts_status: 'known',
  });
}
