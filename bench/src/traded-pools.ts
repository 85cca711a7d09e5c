import { createChainRegistry } from '@chainstead/chains';
import { parseAddress } from '@chainstead/core';
import { addressBytes, type Database, rawSql, sql } from '@chainstead/db';
import type { BenchMarketOptions } from '@chainstead/testkit';
import { CHAIN_ID } from './bench-chain.ts';
import { BenchmarkError } from './benchmark-error.ts';
import { sha256 } from './generated-pool.ts';

/** Datasets of swaps, pools and prices. */
export const MARKET_DATASETS = ['feed-answers', 'pool-prices', 'pool-creations', 'swaps', 'pool-states'] as const;

const POOLS = 200;
const FACTORY = parseAddress('0x5c69bee701ef814a2b6a3edd4b1652cb9cc5aa6f');
/** About as often as the feed of ether on Ethereum reports on a calm day. */
const REPORT_EVERY = 100;

/** 200 pools of ether, and its feed, for the benchmark's node. @param share of what happens in pools */
export function tradedPools(share: number): BenchMarketOptions {
  const [aggregator] = createChainRegistry().get(CHAIN_ID).etherPrice.feed?.aggregators ?? [];
  if (aggregator === undefined) throw new BenchmarkError('The price feed of ether has no aggregator');
  const pools = Array.from({ length: POOLS }, (_, number) => parseAddress(sha256(`pool ${number}`).slice(0, 42)));
  return { share, pools, aggregator, reportEvery: REPORT_EVERY };
}

/** Stores the pools as proven, as they are after the first minutes: then their trades are valued. */
export async function seedTradedPools(database: Database, { pools }: BenchMarketOptions): Promise<void> {
  const { wrappedNative } = createChainRegistry().get(CHAIN_ID);
  if (wrappedNative === null) throw new BenchmarkError('The chain has no wrapped native token');
  await database.query(
    sql`INSERT INTO pools (pool_key, chain_id, pool, status, proof, exchange, factory, token0, token1, is_counted, due_at)
     SELECT address_key(pool), ${rawSql(CHAIN_ID)}, pool, 'proven', 'creation', 'Uniswap v2', ${addressBytes(FACTORY)}, least(token, ${addressBytes(wrappedNative)}::bytea), greatest(token, ${addressBytes(wrappedNative)}::bytea), true, NULL
     FROM (SELECT pool, substr(sha256(pool), 1, 20) AS token FROM unnest(${pools.map(addressBytes)}::bytea[]) AS pool) AS known`,
  );
}
