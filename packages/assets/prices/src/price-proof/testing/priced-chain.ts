import { type Chain, createChainRegistry } from '@chainstead/chains';
import {
  type Address,
  type Hash,
  type Hex,
  keccak256,
  keccak256Hex,
  parseAddress,
  parseHash,
} from '@chainstead/core';
import { type Database, hexBytes, rawSql, sql } from '@chainstead/db';
import { exchangesOf } from '@chainstead/markets/requests';
import { type ChainSource, coverBlocks, createPartitions, seedBuilt, storeToken } from '@chainstead/testkit';
import { ANSWER_UPDATED } from '@chainstead/tokens/price-feeds';
import { type LogFacts, type LogsByBlock, sealChain } from './sealed-chain.ts';

/** Cats trade in a v2 pair against dollars, and in a v3 pool against ether; dogs in a v2 pair against cats. Blocks are a minute apart. */
export const eth: Chain = createChainRegistry().get('eth');
export const CATS = parseAddress(`0x${'11'.repeat(20)}`);
export const DOGS = parseAddress(`0x${'22'.repeat(20)}`);
export const HEAD = 400;
export const USDC = parseAddress('0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48');
export const WETH = parseAddress('0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2');
const timeOf = (block: number): number => 1_700_000_000 + block * 60;

export const PAIR = poolAt('Uniswap v2', CATS, USDC);
export const POOL = poolAt('Uniswap v3', CATS, WETH);
/** Dogs against cats. */
export const DOG_PAIR = poolAt('Uniswap v2', CATS, DOGS);
const ETHER_FEED = eth.etherPrice.feed;
const DOLLAR_FEED = eth.tokenFeeds.find(({ tokens }) => tokens.includes(USDC));

/** Address and factory of the first pool that an exchange makes of two tokens. */
function poolAt(
  name: string,
  token0: Address,
  token1: Address,
): { readonly address: Address; readonly factory: Address } {
  const found = exchangesOf(eth).all.find(({ exchange }) => exchange.name === name);
  const [salted] = found?.exchange.family.salts(token0, token1) ?? [];
  const rule = found?.deployment.addressRule ?? null;
  if (found === undefined || salted === undefined || rule === null)
    throw new RangeError(`${name} has an address rule`);
  const parts = [Buffer.from([0xff]), hexBytes(rule.origin), salted.salt, hexBytes(rule.initCodeHash)];
  const address = parseAddress(`0x${keccak256(Buffer.concat(parts)).subarray(12).toString('hex')}`);
  return { address, factory: found.deployment.factory };
}

const word = (value: bigint): string => BigInt.asUintN(256, value).toString(16).padStart(64, '0');
const topicOf = (signature: string): Hash => keccak256Hex(Buffer.from(signature));
const topic = (value: bigint): Hash => parseHash(`0x${word(value)}`);
const data = (...values: readonly bigint[]): Hex => `0x${values.map(word).join('')}`;

const cats = (whole: number): bigint => BigInt(whole) * 10n ** 6n;
const dollars = cats;
/** One cat is worth 0.0004 ether. */
const SQRT_PRICE = 20_000n << 96n;
const TICK = 198_079n;
/** Virtual reserves of 250,000 cats and 100 ether. */
const LIQUIDITY = 5n * 10n ** 15n;

const sync = (reserve0: bigint, reserve1: bigint, { address } = PAIR): LogFacts => ({
  ...{ address, topics: [topicOf('Sync(uint112,uint112)')], data: data(reserve0, reserve1) },
});
const swap = (liquidity: bigint, root = SQRT_PRICE): LogFacts => ({
  address: POOL.address,
  topics: [topicOf('Swap(address,address,int256,int256,uint160,uint128,int24)'), topic(1n), topic(2n)],
  data: data(5n, -4n, root, liquidity, TICK),
});
const mint = (lower: bigint, upper: bigint, liquidity: bigint): LogFacts => ({
  address: POOL.address,
  topics: [
    topicOf('Mint(address,address,int24,int24,uint128,uint256,uint256)'),
    topic(1n),
    topic(lower),
    topic(upper),
  ],
  data: data(1n, liquidity, 3n, 4n),
});
const answer = (aggregator: Address, value: bigint, round: bigint, block: number): LogFacts => ({
  ...{ address: aggregator, topics: [ANSWER_UPDATED.topic, topic(value), topic(round)] },
  data: data(BigInt(timeOf(block))),
});
/** An event of a contract that has nothing to do with the price. */
const other = (number: number): LogFacts => ({
  ...{ address: USDC, topics: [topicOf('Other(uint256)'), topic(BigInt(number))], data: '0x' },
});

function aggregatorOf(feed: { readonly aggregators: readonly Address[] } | null | undefined): Address {
  return parseAddress(feed?.aggregators[0]);
}

export const ETHER_AGGREGATOR = aggregatorOf(ETHER_FEED);
export const DOLLAR_AGGREGATOR = aggregatorOf(DOLLAR_FEED);

/** Transactions with the logs that set the price, between others. */
const LOGS: LogsByBlock = {
  5: [[other(1)], [other(2), sync(cats(300_000), dollars(240_000))]],
  10: [[answer(DOLLAR_AGGREGATOR, 99_990_000n, 77n, 10)]],
  300: [[other(7)], [sync(cats(100_000), cats(50_000), DOG_PAIR)]],
  350: [[], [swap(LIQUIDITY)]],
  380: [[other(3)], [sync(cats(310_000), dollars(250_000))], [other(4)]],
  385: [[mint(190_000n, 200_000n, 10n ** 14n)]],
  386: [[other(5)], [other(6)], [mint(-10n, 10n, 10n ** 15n)]],
  390: [[answer(ETHER_AGGREGATOR, 200_012_345_678n, 4_242n, 390)]],
  // 7 % above the median: beyond the limit of one of two steps, and not beyond that of a direct price. It has held for nine minutes.
  391: [[other(8), sync(cats(103_500), cats(48_300), DOG_PAIR)]],
  395: [Array.from({ length: 3 }, (_, place) => other(place)), [sync(cats(305_000), dollars(252_000))]],
  396: [[swap(LIQUIDITY + 2n * 10n ** 14n, SQRT_PRICE + (1n << 90n))]],
};

/** The chain as its node serves it. */
export function pricedChain(): ChainSource {
  return sealChain(eth.id, HEAD, timeOf, LOGS);
}

/** Stores the rows that indexing the chain leaves behind, with the balances of the v3 pool. */
export async function storePricedChain(database: Database, source: ChainSource): Promise<void> {
  for (let block = 0; block <= HEAD; block++)
    await database.query(
      sql`INSERT INTO blocks (chain_id, block_number, block_hash, block_timestamp) VALUES (${eth.id}, ${block}, ${hexBytes(source.blockAt(block)?.hash ?? '0x')}, to_timestamp(${timeOf(block)}))`,
    );
  for (const dataset of ['pool-states', 'feed-answers', 'swaps', 'erc20-transfers'])
    await coverBlocks(database, eth.id, dataset, 0, HEAD);
  for (const table of ['pool_states', 'swaps', 'erc20_transfer_sides'])
    await createPartitions(database, table, eth.id);
  await seedBuilt(database, eth.id, { name: 'erc20-wallet-tokens', version: 2 });
  await storeTokens(database);
  for (const [number, transactions] of Object.entries(LOGS)) {
    let logIndex = 0;
    for (const [index, logs] of transactions.entries())
      for (const log of logs) await storeLog(database, log, [Number(number), index, logIndex++]);
  }
}

async function storeTokens(database: Database): Promise<void> {
  for (const [token, decimals] of [
    [CATS, 6],
    [DOGS, 6],
    [USDC, 6],
    [WETH, 18],
  ] as const)
    await storeToken(database, eth.id, token, { name: 'Token', symbol: 'T', decimals, facts_status: 'known' });
  await database.query(
    sql`INSERT INTO erc20_token_classes (token, chain_id, class, since_block) VALUES (${hexBytes(CATS)}, ${eth.id}, 'sum', 1)`,
  );
  for (const [pool, exchange, other] of [
    [PAIR, 'Uniswap v2', USDC],
    [POOL, 'Uniswap v3', WETH],
    [DOG_PAIR, 'Uniswap v2', DOGS],
  ] as const)
    await database.query(
      sql`INSERT INTO pools (pool_key, chain_id, pool, status, exchange, factory, token0, token1, is_counted, due_at)
       VALUES (address_key(${hexBytes(pool.address)}), ${eth.id}, ${hexBytes(pool.address)}, 'proven', ${exchange}, ${hexBytes(pool.factory)}, ${hexBytes(CATS)}, ${hexBytes(other)}, true, NULL)`,
    );
  for (const [token, value] of [
    [CATS, cats(300_000)],
    [WETH, 90n * 10n ** 18n],
  ] as const)
    await database.query(
      sql`INSERT INTO erc20_wallet_tokens (wallet, chain_id, token, anchor_block, anchor_value, anchored_at) VALUES (${hexBytes(POOL.address)}, ${eth.id}, ${hexBytes(token)}, ${rawSql(HEAD)}, ${value.toString()}, now())`,
    );
}

async function storeLog(
  database: Database,
  log: LogFacts,
  place: readonly [number, number, number],
): Promise<void> {
  const words =
    log.data
      .slice(2)
      .match(/.{64}/g)
      ?.map((text) => BigInt.asIntN(256, BigInt(`0x${text}`))) ?? [];
  const address = sql`${hexBytes(log.address)}`;
  const [block, transaction, index] = place;
  const topic = (at: number): bigint => BigInt(log.topics[at] ?? 0);
  switch (log.topics[0]) {
    case topicOf('Sync(uint112,uint112)'):
      await database.query(
        sql`INSERT INTO pool_states (pool_key, chain_id, block_number, transaction_index, log_index, pool, reserve0, reserve1)
         VALUES (address_key(${address}), ${eth.id}, ${block}, ${transaction}, ${index}, ${address}, ${String(words[0])}, ${String(words[1])})`,
      );
      break;
    case topicOf('Swap(address,address,int256,int256,uint160,uint128,int24)'):
      await database.query(
        sql`INSERT INTO pool_states (pool_key, chain_id, block_number, transaction_index, log_index, pool, sqrt_price_x96, liquidity, tick)
         VALUES (address_key(${address}), ${eth.id}, ${block}, ${transaction}, ${index}, ${address}, ${String(words[2])}, ${String(words[3])}, ${Number(words[4])})`,
      );
      break;
    case topicOf('Mint(address,address,int24,int24,uint128,uint256,uint256)'):
      await database.query(
        sql`INSERT INTO swaps (pool_key, chain_id, block_number, transaction_index, log_index, tick_lower, tick_upper, kind, pool, liquidity_delta, wallet, transaction_hash)
         VALUES (address_key(${address}), ${eth.id}, ${block}, ${transaction}, ${index}, ${Number(BigInt.asIntN(256, topic(2)))}, ${Number(BigInt.asIntN(256, topic(3)))},
           1, ${address}, ${String(words[1])}, ${address}, sha256('x'))`,
      );
      break;
    case ANSWER_UPDATED.topic:
      await database.query(
        sql`INSERT INTO feed_answers (aggregator, chain_id, block_number, transaction_index, log_index, round, answer, updated_at)
         VALUES (${address}, ${eth.id}, ${block}, ${transaction}, ${index}, ${String(topic(2))}, ${String(topic(1))}, to_timestamp(${Number(words[0])}))`,
      );
  }
}
