/** A chain for attacks on a price: blocks 60 seconds apart, USDC at 1 dollar, and pools with reserves. */
import { createChainRegistry } from '@chainstead/chains';
import type { PriceFeed } from '@chainstead/chains/price-feeds';
import { type Address, type Hex, parseAddress } from '@chainstead/core';
import { type Database, hexBytes, sql } from '@chainstead/db';
import { exchangesOf } from '@chainstead/markets/requests';
import { coverBlocks, createPartitions, storeBlocks } from '@chainstead/testkit';
import { seedAnswers } from '@chainstead/tokens/price-feeds/testing';

export const eth = createChainRegistry().get('eth');
export const USDC = parseAddress('0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48');
export const CATS = parseAddress(`0x${'11'.repeat(20)}`);
export const DOGS = parseAddress(`0x${'22'.repeat(20)}`);
const UNISWAP = exchangesOf(eth).all.find(({ exchange }) => exchange.name === 'Uniswap v2')?.deployment.factory;
const DOLLAR_FEED = eth.tokenFeeds.find(({ tokens }) => tokens.includes(USDC));
export const HEAD = 200;
export const ATTACK = 100;
const SECONDS = 60;
const START = 1_700_000_000;
export const TEN_MINUTES = [ATTACK, ATTACK + 3, ATTACK + 6, ATTACK + 9];

export interface SeededPool {
  readonly tokens?: readonly [Address, Address];
  readonly status?: 'proven' | 'unproven' | 'disproved';
  readonly isCounted?: boolean;
}

/** A state is a block and the reserves of both tokens in base units. */
export type State = readonly [block: number, reserve0: bigint, reserve1: bigint];

/** Whole tokens in base units. */
export const whole = (tokens: number): bigint => BigInt(tokens) * 10n ** 6n;

/** Empties the chain: tokens, blocks and the dollar are there, and no pool. */
export async function resetAttackedChain(database: Database): Promise<void> {
  await database.query(sql`TRUNCATE pools, pool_states, blocks, sync_ranges, tokens, feed_answers`);
  await storeBlocks(database, eth.id, 0, HEAD, { start: START, seconds: SECONDS });
  for (const dataset of ['pool-states', 'feed-answers', 'swaps'])
    await coverBlocks(database, eth.id, dataset, 0, HEAD);
  await createPartitions(database, 'pool_states', eth.id);
  await seedAnswer(database, DOLLAR_FEED, 1, '100000000');
  await seedToken(database, CATS, 'CATS', 6);
  await seedToken(database, DOGS, 'DOGS', 6);
  await seedToken(database, USDC, 'USDC', 6);
}

/** Stores a value of a feed. */
export async function seedAnswer(
  database: Database,
  feed: PriceFeed | undefined,
  blockNumber: number,
  answer: string,
): Promise<void> {
  const [aggregator] = feed?.aggregators ?? [];
  if (aggregator === undefined) throw new RangeError('The feed has an aggregator');
  const time = START + blockNumber * SECONDS;
  await seedAnswers(database, eth, [{ aggregator, blockNumber, answer, time }]);
}

export async function seedToken(
  database: Database,
  token: Address,
  symbol: string,
  decimals: number,
): Promise<void> {
  await database.query(
    sql`INSERT INTO tokens (address, chain_id, name, symbol, decimals, facts_status) VALUES (${hexBytes(token)}, ${eth.id}, ${symbol}, ${symbol}, ${decimals}, 'known')
     ON CONFLICT (address, chain_id) DO UPDATE SET decimals = excluded.decimals`,
  );
}

/** Stores a pool with its states, of CATS and USDC by default. */
export async function seedPool(
  database: Database,
  pool: Hex,
  states: readonly State[],
  { tokens: [token0, token1] = [CATS, USDC], status = 'proven', isCounted = true }: SeededPool = {},
): Promise<void> {
  await database.query(
    sql`INSERT INTO pools (pool_key, chain_id, pool, status, exchange, factory, token0, token1, is_counted, due_at)
     VALUES (address_key(${hexBytes(pool)}), ${eth.id}, ${hexBytes(pool)}, ${status}, 'Uniswap v2', ${hexBytes(UNISWAP ?? '')}, ${hexBytes(token0)}, ${hexBytes(token1)}, ${isCounted}, NULL)`,
  );
  for (const [block, reserve0, reserve1] of states)
    await database.query(
      sql`INSERT INTO pool_states (pool_key, chain_id, block_number, transaction_index, log_index, pool, reserve0, reserve1)
       VALUES (address_key(${hexBytes(pool)}), ${eth.id}, ${block}, 0, 0, ${hexBytes(pool)}, ${reserve0.toString()}, ${reserve1.toString()})`,
    );
}
