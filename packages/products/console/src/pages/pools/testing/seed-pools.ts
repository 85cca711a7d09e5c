import type { Chain } from '@chainstead/chains';
import { feedsOf } from '@chainstead/chains/price-feeds';
import { type Address, parseAddress } from '@chainstead/core';
import { type Database, hexBytes, sql } from '@chainstead/db';
import { exchangesOf } from '@chainstead/markets/requests';
import { addressOf, coverBlocks, createPartitions, hashOf, storeBlocks, storeToken } from '@chainstead/testkit';
import { seedAnswers } from '@chainstead/tokens/price-feeds/testing';

const WETH = parseAddress('0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2');
export const USDC = parseAddress('0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48');
export const CATS = parseAddress(`0x${'11'.repeat(20)}`);
/** Has only a shallow pool. */
export const DOGS = parseAddress(`0x${'12'.repeat(20)}`);
/** Has only a pool with a token without a price. */
export const LONELY = parseAddress(`0x${'13'.repeat(20)}`);
const PRICELESS = parseAddress(`0x${'14'.repeat(20)}`);
export const [DEEP, SHALLOW, YOUNG] = [addressOf(0x9a1), addressOf(0x9a2), addressOf(0x9a3)];
export const [FAKE, GONE, DOG_PAIR] = [addressOf(0x9a4), addressOf(0x9a5), addressOf(0x9a6)];
/** At a pool manager, with a hook. */
export const MANAGED = hashOf(4, 4);
export const HEAD = 400;
const START = 1_700_000_000;
/** Time between blocks. Seconds. */
const SECONDS = 300;
export const timeOf = (block: number): number => START + block * SECONDS;

interface SeededPool {
  readonly pool: string;
  readonly token: Address;
  readonly quote: Address;
  readonly status: 'proven' | 'unproven' | 'disproved';
  readonly proof: 'creation' | 'address' | 'factory' | null;
  readonly block: number | null;
  readonly exchange: string | null;
  readonly fee: number | null;
  /** Whole tokens by block. */
  readonly states: readonly (readonly [block: number, tokens: number, quoted: number])[];
}

const UNKNOWN = { proof: null, block: null, exchange: null, fee: null } as const;
const CATS_WETH = { token: CATS, quote: WETH } as const;
const POOLS: readonly SeededPool[] = [
  {
    ...{
      ...CATS_WETH,
      pool: DEEP,
      status: 'proven',
      proof: 'creation',
      block: 3,
      exchange: 'Uniswap v2',
      fee: null,
    },
    states: [
      [10, 1_000_000, 500],
      [300, 1_000_000, 525],
    ],
  },
  {
    ...{ token: CATS, quote: USDC, pool: SHALLOW, status: 'proven', proof: 'address', block: null, fee: 3_000 },
    ...{ exchange: 'Sushiswap v2', states: [[20, 1_000, 400]] },
  },
  {
    ...{ token: CATS, quote: USDC, pool: YOUNG, status: 'proven', proof: 'factory', block: 399, fee: 500 },
    ...{ exchange: 'Uniswap v2', states: [[399, 1_000_000, 5_000_000]] },
  },
  { ...UNKNOWN, ...CATS_WETH, pool: FAKE, status: 'unproven', states: [[50, 1_000, 1_000_000]] },
  { ...UNKNOWN, ...CATS_WETH, pool: GONE, status: 'disproved', block: 60, states: [[50, 1_000, 9_000_000]] },
  {
    ...{ token: DOGS, quote: USDC, pool: DOG_PAIR, status: 'proven', proof: 'address', block: null, fee: null },
    ...{ exchange: 'Uniswap v2', states: [[30, 10, 10]] },
  },
  {
    ...{ token: LONELY, quote: PRICELESS, pool: addressOf(0x9a7), status: 'proven', proof: 'address' },
    ...{ block: null, fee: null, exchange: 'Uniswap v2', states: [[30, 1_000_000, 1_000_000]] },
  },
];

/** Stores pools of every status with states and feed values, so that CATS have a price. Blocks are 300 seconds apart. */
export async function seedPools(database: Database, chain: Chain): Promise<void> {
  await storeBlocks(database, chain.id, 0, HEAD, { start: START, seconds: SECONDS });
  for (const dataset of ['pool-states', 'feed-answers']) await coverBlocks(database, chain.id, dataset, 0, HEAD);
  for (const [token, symbol, decimals] of [
    [CATS, 'CATS', 6],
    [DOGS, 'DOGS', 6],
    [LONELY, 'LONE', 6],
    [PRICELESS, 'NONE', 6],
    [WETH, 'WETH', 18],
    [USDC, 'USDC', 6],
  ] as const)
    await storeToken(database, chain.id, token, {
      standard: 'erc20',
      seen_as: 1,
      name: symbol,
      symbol,
      decimals,
      facts_status: 'known',
    });
  await seedFeeds(database, chain);
  await createPartitions(database, 'pool_states', chain.id);
  for (const pool of POOLS) await seedPool(database, chain, pool);
  await database.query(
    sql`INSERT INTO pools (pool_key, chain_id, pool, vault, status, proof, proof_block, exchange, token0, token1, fee, hooks, is_counted, due_at)
     VALUES (${keyOf(MANAGED)}, ${chain.id}, ${hexBytes(MANAGED)}, ${hexBytes(addressOf(0x4))}, 'proven', 'creation', 70, 'Uniswap v4',
       ${hexBytes(CATS)}, ${hexBytes(USDC)}, 8388608, ${hexBytes(addressOf(0x400))}, false, NULL)`,
  );
}

/** Ether at 2,000 dollars and the dollar at 1. */
async function seedFeeds(database: Database, chain: Chain): Promise<void> {
  const dollar = chain.tokenFeeds.find(({ tokens }) => tokens.includes(USDC))?.proxy;
  for (const { proxy, aggregators } of feedsOf(chain)) {
    const [aggregator] = aggregators;
    const answer =
      proxy === chain.etherPrice.feed?.proxy ? '200000000000' : proxy === dollar ? '100000000' : null;
    if (aggregator === undefined || answer === null) continue;
    const values = [1, 200].map((blockNumber) => ({
      aggregator,
      blockNumber,
      answer,
      time: timeOf(blockNumber),
    }));
    await seedAnswers(database, chain, values);
  }
}

async function seedPool(
  database: Database,
  chain: Chain,
  { pool, token, quote, status, proof, block, exchange, fee, states }: SeededPool,
): Promise<void> {
  const factory = exchangesOf(chain).all.find((one) => one.exchange.name === exchange)?.deployment.factory;
  const address = sql`${hexBytes(pool)}::bytea`;
  await database.query(
    sql`INSERT INTO pools (pool_key, chain_id, pool, status, proof, proof_block, exchange, factory, token0, token1, fee, is_counted, due_at, error_message)
     VALUES (address_key(${address}), ${chain.id}, ${address}, ${status}, ${proof}, ${block}, ${exchange}, ${factory === undefined ? null : hexBytes(factory)},
       ${hexBytes(token)}, ${hexBytes(quote)}, ${fee}, ${status === 'proven'}, CASE ${status} WHEN 'unproven' THEN now() END, ${status === 'unproven' ? 'timeout' : null})`,
  );
  const unit = 10n ** (quote === WETH ? 18n : 6n);
  for (const [at, tokens, quoted] of states)
    await database.query(
      sql`INSERT INTO pool_states (pool_key, chain_id, block_number, transaction_index, log_index, pool, reserve0, reserve1)
       VALUES (address_key(${address}), ${chain.id}, ${at}, 0, 0, ${address}, ${tokens * 1e6}, ${(BigInt(quoted) * unit).toString()})`,
    );
}

/** The first and last four bytes. */
function keyOf(pool: string): string {
  return BigInt.asIntN(64, BigInt(pool.slice(0, 10) + pool.slice(-8))).toString();
}
