import { type Chain, createChainRegistry, type PriceFeed } from '@chainstead/chains';
import { type Address, type Hex, parseAddress, silentLogger, systemClock } from '@chainstead/core';
import { type Database, hexBytes } from '@chainstead/db';
import { DIRECTION } from '@chainstead/db/direction';
import type { BalanceRequestSources } from '@chainstead/erc20';
import { exchangesOf, poolKey } from '@chainstead/markets';
import { createNodeReadQueue } from '@chainstead/node-reads';
import { seedAnswers } from '@chainstead/price-feeds/testing';
import { createSubjectProjections } from '@chainstead/sync';
import { addressOf, createPartitions, seedBuilt } from '@chainstead/testkit';

/** Blocks from 0 to here are indexed. They are 300 seconds apart: a day has 288. */
export const HEAD = 400;
const SECONDS = 300;
const START = 1_700_000_000;

export const eth: Chain = createChainRegistry().get('eth');
export const WETH = parseAddress('0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2');
export const USDC = parseAddress('0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48');
/** Lower than the other tokens, so it is token 0. 6 decimals. */
export const CATS = parseAddress(`0x${'11'.repeat(20)}`);
/** 18 decimals, and no anchor. */
export const DOGS = parseAddress(`0x${'22'.repeat(20)}`);

export function timeOf(block: number): number {
  return START + block * SECONDS;
}

export function isoOf(block: number): string {
  return new Date(timeOf(block) * 1_000).toISOString();
}

export function factoryOf(exchange: string): Address {
  const found = exchangesOf(eth).all.find((one) => one.exchange.name === exchange);
  if (found === undefined) throw new RangeError(`${exchange} is on Ethereum`);
  return found.deployment.factory;
}

/** Empties the tables and stores tokens, blocks, and prices of 2,000 dollars per ether and 1 dollar per USDC. */
export async function seedMarket(database: Database): Promise<void> {
  await database.query(
    `TRUNCATE pools, pool_states, pool_creations, swaps, trades, blocks, sync_ranges, tokens, feed_answers, erc20_transfer_sides,
       erc20_wallet_tokens, erc20_token_classes, state_questions`,
  );
  await database.query(
    `INSERT INTO blocks (chain_id, block_number, block_hash, block_timestamp)
     SELECT $1, number, sha256(number::text::bytea), to_timestamp($2::float8 + number * ${SECONDS}) FROM generate_series(0, ${HEAD}) AS number`,
    [eth.id, START],
  );
  for (const dataset of ['pool-states', 'swaps', 'feed-answers', 'erc20-transfers']) await cover(database, dataset);
  for (const table of ['pool_states', 'swaps', 'erc20_transfer_sides']) await createPartitions(database, table, eth.id);
  await seedBuilt(database, eth.id, { name: 'erc20-wallet-tokens', version: 2 });
  const dollars = eth.tokenFeeds.find(({ tokens }) => tokens.includes(USDC));
  // A value counts for 25 hours, which are 300 blocks.
  for (const block of [1, 200]) {
    await seedAnswer(database, eth.etherPrice.feed, block, '200000000000');
    await seedAnswer(database, dollars, block, '100000000');
  }
  for (const [token, symbol, decimals] of [
    [CATS, 'CATS', 6],
    [WETH, 'WETH', 18],
    [USDC, 'USDC', 6],
    [DOGS, 'DOGS', 18],
  ] as const)
    await database.query(
      `INSERT INTO tokens (address, chain_id, name, symbol, decimals, facts_status) VALUES ($1, $2, $3, $4, $5, 'known')`,
      [hexBytes(token), eth.id, `${symbol} token`, symbol, decimals],
    );
  await database.query(
    `INSERT INTO erc20_token_classes (token, chain_id, class, since_block) VALUES ($1, $2, 'sum', 1)`,
    [hexBytes(CATS), eth.id],
  );
}

/** Stores the run of a dataset that ends at the head. */
export async function cover(database: Database, dataset: string, first = 0): Promise<void> {
  await database.query('DELETE FROM sync_ranges WHERE dataset = $1', [dataset]);
  await database.query(
    `INSERT INTO sync_ranges (chain_id, dataset, first_block, last_block, proof) VALUES ($1, $2, $3, ${HEAD}, 'receipts')`,
    [eth.id, dataset, first],
  );
}

async function seedAnswer(database: Database, feed: PriceFeed | null | undefined, block: number, answer: string) {
  const [aggregator] = feed?.aggregators ?? [];
  if (aggregator === undefined) throw new RangeError('The feed has an aggregator');
  await seedAnswers(database, eth, [{ aggregator, blockNumber: block, answer, time: timeOf(block) }]);
}

export interface SeededPool {
  readonly pool: Hex;
  readonly tokens: readonly [Address, Address];
  readonly exchange?: string;
  readonly status?: 'proven' | 'unproven';
  readonly vault?: Address;
}

export async function seedPool(
  database: Database,
  { pool, tokens, exchange = 'Uniswap v2', status = 'proven', vault }: SeededPool,
): Promise<void> {
  await database.query(
    `INSERT INTO pools (pool_key, chain_id, pool, vault, status, exchange, factory, token0, token1, is_counted, due_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, true, NULL)`,
    [
      ...[poolKey(pool), eth.id, hexBytes(pool), vault === undefined ? null : hexBytes(vault), status, exchange],
      ...[factoryOf(exchange), ...tokens].map(hexBytes),
    ],
  );
}

/** Stores the reserves of a pool at a block. Base units. */
export async function seedReserves(database: Database, pool: Hex, block: number, sides: readonly [bigint, bigint]) {
  await database.query(
    `INSERT INTO pool_states (pool_key, chain_id, block_number, transaction_index, log_index, pool, reserve0, reserve1)
     VALUES ($1, $2, $3, 0, 0, $4, $5, $6)`,
    [poolKey(pool), eth.id, block, hexBytes(pool), ...sides.map(String)],
  );
}

/** Stores a price of a pool with concentrated liquidity. @param root square root of base units 1 per base unit 0 */
export async function seedRoot(
  database: Database,
  pool: Hex,
  block: number,
  root: bigint,
  liquidity = 5n * 10n ** 15n,
) {
  await database.query(
    `INSERT INTO pool_states (pool_key, chain_id, block_number, transaction_index, log_index, pool, sqrt_price_x96, liquidity, tick)
     VALUES ($1, $2, $3, 0, 0, $4, $5, $6, 1)`,
    [poolKey(pool), eth.id, block, hexBytes(pool), (root << 96n).toString(), liquidity.toString()],
  );
}

/** Stores balances that the token contracts returned for a pool at the head. Base units. */
export async function seedBalances(
  database: Database,
  pool: Address,
  balances: readonly (readonly [Address, bigint])[],
): Promise<void> {
  for (const [token, value] of balances)
    await database.query(
      `INSERT INTO erc20_wallet_tokens (wallet, chain_id, token, anchor_block, anchor_value, anchored_at) VALUES ($1, $2, $3, $4, $5, now())`,
      [hexBytes(pool), eth.id, hexBytes(token), HEAD, value.toString()],
    );
}

/** Stores a transfer into a pool. */
export async function seedDeposit(database: Database, pool: Address, block: number, token: Address, value: bigint) {
  await database.query(
    `INSERT INTO erc20_transfer_sides (account_key, chain_id, block_number, transaction_index, log_index, direction, account, token, counterparty, value, transaction_hash)
     VALUES (address_key($1), $2, $3, 0, 1, $4, $1, $5, $6, $7, sha256('x'))`,
    [hexBytes(pool), eth.id, block, DIRECTION.received, hexBytes(token), hexBytes(addressOf(0xb0b)), value.toString()],
  );
}

export interface SeededSwap {
  readonly pool: Hex;
  readonly block: number;
  readonly log?: number;
  readonly tokens?: readonly [Address, Address];
  /** Base units into the pool; negative out of it. */
  readonly amounts: readonly [bigint, bigint];
  readonly wallet?: Address;
}

/** Stores a swap and its trade. */
export async function seedSwap(
  database: Database,
  { pool, block, log = 0, tokens = [CATS, WETH], amounts, wallet = addressOf(0xa11ce) }: SeededSwap,
): Promise<void> {
  const place = [poolKey(pool), eth.id, block, log];
  await database.query(
    `INSERT INTO swaps (pool_key, chain_id, block_number, transaction_index, log_index, kind, pool, token0, token1, amount0, amount1, wallet, transaction_hash)
     VALUES ($1, $2, $3, 0, $4, 0, $5, $6, $7, $8, $9, $10, sha256('x'))`,
    [...place, hexBytes(pool), ...tokens.map(hexBytes), ...amounts.map(String), hexBytes(wallet)],
  );
  await database.query(
    `INSERT INTO trades (pool_key, chain_id, block_number, transaction_index, log_index, token0_key, token1_key)
     VALUES ($1, $2, $3, 0, $4, address_key($5), address_key($6))`,
    [...place, ...tokens.map(hexBytes)],
  );
}

/** Sources of balances without a worker: requested reads stay in `state_questions`. */
export function balancesOf(database: Database): BalanceRequestSources {
  const nodeReads = createNodeReadQueue({ database, chains: [eth], clock: systemClock, logger: silentLogger() });
  return { nodeReads, projections: createSubjectProjections(database), waitMs: 1_000, liveMaxAgeMs: 60_000 };
}
