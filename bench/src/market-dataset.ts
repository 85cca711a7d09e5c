import { createChainRegistry } from '@chainstead/chains';
import { type Address, parseAddress } from '@chainstead/core';
import { addressBytes, type Database, hexText, rawSql, type Sql, sql } from '@chainstead/db';
import { createPartitions } from '@chainstead/testkit';
import { CHAIN_ID } from './bench-chain.ts';

/** What to request from the filled tables. */
export interface MarketDataset {
  /** A pool of ether and dollars with all the swaps. */
  readonly pool: Address;
  /** The sender of every swap, and one of few. */
  readonly wallet: Address;
  readonly smallWallet: Address;
  /** A token with 100 pools, and tokens with three each. */
  readonly pooled: Address;
  readonly tokens: readonly Address[];
  /** Number of the last block, and its time in Unix seconds. */
  readonly lastBlock: number;
  readonly lastTime: number;
}

const SWAPS_PER_BLOCK = 10;
const BLOCK_SECONDS = 12;
const POOLS = 100;
const TOKENS = 100;
const POOLS_PER_TOKEN = 3;
/** States of each pool: one in ten minutes, newest block included. */
const STATES = 50;
const STATE_EVERY = 50;
const SMALL_WALLET_EVERY = 10;

const WETH = parseAddress('0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2');
const USDC = parseAddress('0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48');
const FACTORY = parseAddress('0x5c69bee701ef814a2b6a3edd4b1652cb9cc5aa6f');
const named = (name: Sql): Sql => sql`substr(sha256(${name}), 1, 20)`;
const token = (number: number | string): Sql => named(sql`('token ' || ${rawSql(number)})::bytea`);
const ofToken = (number: number | string, pool: string): Sql =>
  named(sql`('pool ' || ${rawSql(number)} || ' ' || ${rawSql(pool)})::bytea`);
const POOL = named(sql`'pool'`);
const [WALLET, SMALL_WALLET] = [named(sql`'wallet'`), named(sql`'small wallet'`)];

/** Fills the production tables with swaps of one pool until now, ten per block, and with pools of tokens. Nothing is due, as after earlier requests. */
export async function fillMarketDataset(database: Database, swaps: number): Promise<MarketDataset> {
  const lastBlock = Math.ceil(swaps / SWAPS_PER_BLOCK) - 1;
  const lastTime = Math.floor(Date.now() / 1_000);
  const firstTime = lastTime - lastBlock * BLOCK_SECONDS;
  await fillChain(database, lastBlock, firstTime);
  await fillFeeds(database, lastBlock, firstTime);
  await fillSwaps(database, lastBlock);
  await fillPools(database, lastBlock);
  await database.query(sql`VACUUM ANALYZE`);
  const [found] = await database.query<Pick<MarketDataset, 'pool' | 'wallet' | 'smallWallet' | 'pooled'>>(
    sql`SELECT ${hexText(POOL)} AS pool, ${hexText(WALLET)} AS wallet, ${hexText(SMALL_WALLET)} AS "smallWallet", ${hexText(token(0))} AS pooled`,
  );
  if (found === undefined) throw new RangeError('The filled tables could not be described');
  const tokens = await database.query<{ address: Address }>(
    sql`SELECT ${hexText(token('number'))} AS address FROM generate_series(1, ${rawSql(TOKENS)}) AS number`,
  );
  return { ...found, tokens: tokens.map(({ address }) => address), lastBlock, lastTime };
}

async function fillChain(database: Database, lastBlock: number, firstTime: number): Promise<void> {
  await database.query(
    sql`INSERT INTO blocks (chain_id, block_number, block_hash, block_timestamp)
     SELECT ${rawSql(CHAIN_ID)}, number, sha256(('block ' || number)::bytea), to_timestamp(${firstTime}::float8 + number * ${rawSql(BLOCK_SECONDS)})
     FROM generate_series(0, ${lastBlock}::int) AS number`,
  );
  await database.query(
    sql`INSERT INTO sync_ranges (chain_id, dataset, first_block, last_block, proof)
     SELECT ${rawSql(CHAIN_ID)}, dataset, 0, ${lastBlock}, 'receipts' FROM unnest('{swaps,pool-states,pool-creations,feed-answers}'::text[]) AS dataset`,
  );
  await database.query(
    sql`INSERT INTO sync_chains (chain_id, history_start, first_followed, checkpoint, finalized) VALUES (${rawSql(CHAIN_ID)}, 0, 0, ${lastBlock}, ${lastBlock})`,
  );
  await database.query(
    sql`INSERT INTO tokens (address, chain_id, standard, seen_as, name, symbol, decimals, facts_status, facts_due_at)
     SELECT address, ${rawSql(CHAIN_ID)}, 'erc20', 1, 'Token ' || number, 'T' || number, decimals, 'known', NULL FROM (
       SELECT ${token('number')} AS address, number, 18 AS decimals FROM generate_series(0, ${rawSql(TOKENS)}) AS number
       UNION ALL VALUES (${addressBytes(WETH)}::bytea, 1001, 18), (${addressBytes(USDC)}::bytea, 1002, 6)) AS known`,
  );
}

/** Ether at 2,000 dollars and USDC at 1, every hour. */
async function fillFeeds(database: Database, lastBlock: number, firstTime: number): Promise<void> {
  const chain = createChainRegistry().get('eth');
  const dollar = chain.tokenFeeds.find(({ tokens }) => tokens.includes(USDC));
  for (const [feed, answer] of [
    [chain.etherPrice.feed, '200000000000'],
    [dollar, '100000000'],
  ] as const) {
    const [aggregator] = feed?.aggregators ?? [];
    if (aggregator === undefined) throw new RangeError('The feed has an aggregator');
    await database.query(
      sql`INSERT INTO feed_answers (aggregator, chain_id, block_number, transaction_index, log_index, round, answer, updated_at)
       SELECT ${addressBytes(aggregator)}, ${rawSql(CHAIN_ID)}, number, 0, 0, number, ${answer}, to_timestamp(${firstTime}::float8 + number * ${rawSql(BLOCK_SECONDS)})
       FROM generate_series(0, ${lastBlock}::int, 300) AS number`,
    );
  }
}

/** Purchases and sales in turn at about 2,000 dollars per ether. Every tenth one is of the small wallet as well. */
async function fillSwaps(database: Database, lastBlock: number): Promise<void> {
  await createPartitions(database, 'swaps', createChainRegistry().get(CHAIN_ID).id);
  await database.query(
    sql`INSERT INTO swaps (pool_key, chain_id, block_number, transaction_index, log_index, kind, pool, token0, token1, amount0, amount1, wallet, beneficiary, transaction_hash)
     SELECT address_key(${POOL}), ${rawSql(CHAIN_ID)}, block, place, 0, 0, ${POOL}, ${addressBytes(USDC)}, ${addressBytes(WETH)},
       CASE place % 2 WHEN 0 THEN 1 ELSE -1 END * (2000000000 + (block * 7 + place) % 9000000),
       CASE place % 2 WHEN 0 THEN -1 ELSE 1 END * (1000000000000000000 + (block * 11 + place) % 1000000000),
       ${WALLET}, CASE WHEN (block * ${rawSql(SWAPS_PER_BLOCK)} + place) % ${rawSql(SMALL_WALLET_EVERY)} = 0 THEN ${SMALL_WALLET} END, sha256((block || ' ' || place)::bytea)
     FROM generate_series(0, ${lastBlock}::int) AS block CROSS JOIN generate_series(0, ${rawSql(SWAPS_PER_BLOCK - 1)}) AS place`,
  );
}

async function fillPools(database: Database, lastBlock: number): Promise<void> {
  await createPartitions(database, 'pool_states', createChainRegistry().get(CHAIN_ID).id);
  const pools = sql`SELECT ${ofToken(0, 'number')} AS pool, ${token(0)} AS token FROM generate_series(1, ${rawSql(POOLS)}) AS number
    UNION ALL SELECT ${ofToken('one', 'number')}, ${token('one')} FROM generate_series(1, ${rawSql(TOKENS)}) AS one CROSS JOIN generate_series(1, ${rawSql(POOLS_PER_TOKEN)}) AS number
    UNION ALL SELECT ${POOL}, ${addressBytes(USDC)}::bytea`;
  const ether = sql`${addressBytes(WETH)}::bytea`;
  await database.query(
    sql`INSERT INTO pools (pool_key, chain_id, pool, status, proof, exchange, factory, token0, token1, is_counted, due_at)
     SELECT address_key(pool), ${rawSql(CHAIN_ID)}, pool, 'proven', 'creation', 'Uniswap v2', ${addressBytes(FACTORY)}, least(token, ${ether}), greatest(token, ${ether}), true, NULL
     FROM (${pools}) AS known`,
  );
  await database.query(
    sql`INSERT INTO pool_states (pool_key, chain_id, block_number, transaction_index, log_index, pool, reserve0, reserve1)
     SELECT pool_key, chain_id, ${lastBlock} - number * ${rawSql(STATE_EVERY)}, 0, 0, pool, 10::numeric ^ 21 + number, 10::numeric ^ 21 + number
     FROM pools CROSS JOIN generate_series(0, ${rawSql(STATES - 1)}) AS number WHERE ${lastBlock} >= number * ${rawSql(STATE_EVERY)}`,
  );
  await database.query(
    sql`INSERT INTO pool_lookups (token, chain_id, block_number) SELECT ${token('number')}, ${rawSql(CHAIN_ID)}, ${lastBlock} FROM generate_series(0, ${rawSql(TOKENS)}) AS number`,
  );
}
