/** Tokens with pools and trades, as the sync engine would store them. Blocks are 300 seconds apart, and block 0 begins a day. */
import { type Chain, createChainRegistry, type PriceFeed } from '@chainstead/chains';
import { type Address, parseAddress, silentLogger, systemClock } from '@chainstead/core';
import { type Database, hexBytes } from '@chainstead/db';
import type { BalanceRequestSources } from '@chainstead/erc20';
import { exchangesOf, poolKey } from '@chainstead/markets';
import { createNodeReadQueue } from '@chainstead/node-reads';
import { seedAnswers } from '@chainstead/price-feeds/testing';
import { createSubjectProjections } from '@chainstead/sync';
import { addressOf, createPartitions } from '@chainstead/testkit';

/** The newest block: 9:20 of the second day. */
export const HEAD = 400;
const SECONDS = 300;
export const START = 1_700_006_400;
export const timeOf = (block: number): number => START + block * SECONDS;

const registry = createChainRegistry();
export const [eth, base] = [registry.get('eth'), registry.get('base')];
export const WETH = parseAddress('0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2');
export const USDC = parseAddress('0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48');
export const USDC_OF_BASE = parseAddress('0x833589fcd6edb6e08f4c7c32d4f71b54bda02913');
/** Lower than those above: token 0 of their pools. */
export const CATS = parseAddress(`0x${'11'.repeat(20)}`);
export const DOGS = parseAddress(`0x${'22'.repeat(20)}`);
export const [ALICE, BOB, CAROL] = [0xa11ce, 0xb0b, 0xca401].map(addressOf) as [Address, Address, Address];

/** Empties the tables, and stores blocks with 2,000 dollars per ether and 1 dollar per USDC. */
export async function seedMarket(database: Database): Promise<void> {
  await database.query(
    'TRUNCATE pools, pool_states, swaps, trades, blocks, sync_ranges, tokens, feed_answers, state_questions',
  );
  for (const chain of [eth, base]) {
    await database.query(
      `INSERT INTO blocks (chain_id, block_number, block_hash, block_timestamp)
       SELECT $1, number, sha256(number::text::bytea), to_timestamp($2::float8 + number * ${SECONDS}) FROM generate_series(0, ${HEAD}) AS number`,
      [chain.id, START],
    );
    for (const dataset of ['pool-states', 'swaps', 'feed-answers']) await cover(database, chain, dataset, 0);
    for (const table of ['pool_states', 'swaps']) await createPartitions(database, table, chain.id);
    const dollars = chain.tokenFeeds.find(({ tokens }) => tokens.some((token) => [USDC, USDC_OF_BASE].includes(token)));
    for (const block of [1, 200]) {
      await seedAnswer(database, chain, chain.etherPrice.feed, block, '200000000000');
      await seedAnswer(database, chain, dollars, block, '100000000');
    }
  }
  await seedToken(database, eth, WETH, { symbol: 'WETH', decimals: 18 });
  await seedToken(database, eth, USDC, { symbol: 'USDC', decimals: 6 });
  await seedToken(database, base, USDC_OF_BASE, { symbol: 'USDC', decimals: 6 });
}

async function seedAnswer(
  database: Database,
  chain: Chain,
  feed: PriceFeed | null | undefined,
  blockNumber: number,
  answer: string,
): Promise<void> {
  const [aggregator] = feed?.aggregators ?? [];
  if (aggregator !== undefined)
    await seedAnswers(database, chain, [{ aggregator, blockNumber, answer, time: timeOf(blockNumber) }]);
}

/** Stores the run of a dataset until the newest block. */
export async function cover(database: Database, chain: Chain, dataset: string, first: number): Promise<void> {
  await database.query('DELETE FROM sync_ranges WHERE chain_id = $1 AND dataset = $2', [chain.id, dataset]);
  await database.query(
    `INSERT INTO sync_ranges (chain_id, dataset, first_block, last_block, proof) VALUES ($1, $2, $3, ${HEAD}, 'receipts')`,
    [chain.id, dataset, first],
  );
}

export interface SeededToken {
  readonly symbol: string;
  readonly name?: string;
  readonly decimals?: number;
  readonly standard?: string;
  readonly isVerified?: boolean;
  readonly isSpam?: boolean;
  /** Whole tokens. */
  readonly supply?: bigint;
  readonly createdBlock?: number;
}

/** Stores the facts of a token. Nothing of it has to be read again. */
export async function seedToken(
  database: Database,
  chain: Chain,
  token: Address,
  { symbol, name = `${symbol} token`, decimals = 6, supply, ...more }: SeededToken,
): Promise<void> {
  const { standard = 'erc20', isVerified = false, isSpam = false, createdBlock = null } = more;
  await database.query(
    `INSERT INTO tokens (address, chain_id, name, symbol, decimals, standard, verified, possible_spam, total_supply, facts_status, supply_read_at,
       creation_sought_at, created_block, created_at, logo)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, 'known', now(), now(), $10, $11, $12)`,
    [
      ...[hexBytes(token), chain.id, name, symbol, decimals, standard, isVerified, isSpam],
      supply === undefined ? null : (supply * 10n ** BigInt(decimals)).toString(),
      createdBlock,
      createdBlock === null ? null : new Date(timeOf(createdBlock) * 1_000).toISOString(),
      isVerified ? `https://logos.example/${symbol}.png` : null,
    ],
  );
}

/** Tokens in ascending order of their addresses. */
interface SeededPool {
  readonly pool: Address;
  readonly tokens: readonly [Address, Address];
  readonly exchange?: string;
  readonly status?: 'proven' | 'unproven';
  readonly isCounted?: boolean;
}

export async function seedPool(
  database: Database,
  chain: Chain,
  { pool, tokens, exchange = 'Uniswap v2', status = 'proven', isCounted = true }: SeededPool,
): Promise<void> {
  const found = exchangesOf(chain).all.find((one) => one.exchange.name === exchange);
  if (found === undefined) throw new RangeError(`${exchange} is not on ${chain.key}`);
  await database.query(
    `INSERT INTO pools (pool_key, chain_id, pool, status, exchange, factory, token0, token1, is_counted, due_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, NULL)`,
    [
      ...[poolKey(pool), chain.id, hexBytes(pool), status, exchange],
      ...[...[found.deployment.factory, ...tokens].map(hexBytes), isCounted],
    ],
  );
}

/** Stores the reserves of a pool from a block on. Base units. */
export async function seedReserves(
  database: Database,
  chain: Chain,
  pool: Address,
  block: number,
  [reserve0, reserve1]: readonly [bigint, bigint],
): Promise<void> {
  await database.query(
    `INSERT INTO pool_states (pool_key, chain_id, block_number, transaction_index, log_index, pool, reserve0, reserve1)
     VALUES ($1, $2, $3, 0, 0, $4, $5, $6)`,
    [poolKey(pool), chain.id, block, hexBytes(pool), `${reserve0}`, `${reserve1}`],
  );
}

interface SeededSwap extends Pick<SeededPool, 'pool' | 'tokens'> {
  readonly block: number;
  /** Base units into the pool; negative out of it. */
  readonly amounts: readonly [bigint, bigint];
  readonly wallet: Address;
}

/** Stores a swap with its trade. */
export async function seedSwap(
  database: Database,
  chain: Chain,
  { pool, tokens, block, amounts, wallet }: SeededSwap,
): Promise<void> {
  const key = [poolKey(pool), chain.id, block];
  await database.query(
    `INSERT INTO swaps (pool_key, chain_id, block_number, transaction_index, log_index, kind, pool, token0, token1, amount0, amount1, wallet, transaction_hash)
     VALUES ($1, $2, $3, 0, 0, 0, $4, $5, $6, $7, $8, $9, sha256($10::int::text::bytea))`,
    [...key, hexBytes(pool), ...tokens.map(hexBytes), ...amounts.map(String), hexBytes(wallet), block],
  );
  await database.query(
    `INSERT INTO trades (pool_key, chain_id, block_number, transaction_index, log_index, token0_key, token1_key)
     VALUES ($1, $2, $3, 0, 0, address_key($4), address_key($5))`,
    [...key, ...tokens.map(hexBytes)],
  );
}

/** Sources of balances without a worker: requested reads stay in `state_questions`. */
export function balancesOf(database: Database): BalanceRequestSources {
  const nodeReads = createNodeReadQueue({
    database,
    chains: [eth, base],
    clock: systemClock,
    logger: silentLogger(),
  });
  return { nodeReads, projections: createSubjectProjections(database), waitMs: 200, liveMaxAgeMs: 60_000 };
}
