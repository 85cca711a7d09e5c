/** A wallet on a scripted chain, with pools of its tokens and an ether feed. Blocks below {@link DAYS_LATER} are two days older than the others. */
import { createChainRegistry } from '@chainstead/chains';
import { type Address, parseAddress } from '@chainstead/core';
import { hexBytes, sql } from '@chainstead/db';
import { ALICE, type BalancesApi, openBalancesApi } from '@chainstead/erc20/testing';
import { exchangesOf } from '@chainstead/markets/requests';
import { addressOf, coverBlocks, createPartitions } from '@chainstead/testkit';
import { seedAnswers } from '@chainstead/tokens/price-feeds/testing';
import { createWalletValueRoutes } from '../wallet-value-routes.ts';

const eth = createChainRegistry().get('eth');
const UNISWAP = exchangesOf(eth).all.find(({ exchange }) => exchange.name === 'Uniswap v2')?.deployment.factory;
const MINTER = addressOf(0x111);

export const WETH = parseAddress('0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2');
export const USDC = parseAddress('0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48');
export const [CATS, DOGS, BIRDS, FISH] = [0x1, 0x2, 0x3, 0x4].map((number) => addressOf(number)) as [
  Address,
  Address,
  Address,
  Address,
];
export const DAYS_LATER = 3;
const HEAD = 6;

/** Whole tokens of a pool's token and dollars by block. */
type Reserves = readonly (readonly [block: number, tokens: number, dollars: number])[];

export interface PricedWallet extends BalancesApi {
  /** Stores a pool of a token with six decimals and USDC. */
  pool(token: Address, reserves: Reserves): Promise<void>;
  /** Gives whole tokens of six decimals to Alice, and indexes blocks until the head. */
  hold(balances: readonly (readonly [token: Address, whole: number])[]): Promise<void>;
  /** Replaces the coverage of a dataset. */
  cover(dataset: string, first: number): Promise<void>;
  /** The JSON body of a response with status 200. */
  body<Body>(path: string): Promise<Body>;
}

export async function openPricedWallet(): Promise<PricedWallet> {
  const served = await openBalancesApi([], (options) => createWalletValueRoutes({ ...options, served: [eth] }));
  const { database } = served.scratch;
  for (const [token, symbol, decimals] of [
    [CATS, 'CATS', 6],
    [DOGS, 'DOGS', 6],
    [BIRDS, 'BIRDS', 6],
    [FISH, 'FISH', 6],
    [USDC, 'USDC', 6],
    [WETH, 'WETH', 18],
  ] as const)
    await served.know(token, { name: `${symbol} token`, symbol, decimals, facts_status: 'known' });
  await createPartitions(database, 'pool_states', eth.id);
  const [aggregator] = eth.etherPrice.feed?.aggregators ?? [];
  if (aggregator === undefined) throw new RangeError('Ethereum has an ether feed');
  const [ofDollar] = eth.tokenFeeds.find(({ tokens }) => tokens.includes(USDC))?.aggregators ?? [];
  if (ofDollar === undefined) throw new RangeError('USDC has a feed');
  await seedAnswers(database, eth, [
    { aggregator, blockNumber: 0, answer: '160000000000' },
    { aggregator, blockNumber: DAYS_LATER, answer: '200000000000' },
    { aggregator: ofDollar, blockNumber: 0, answer: '100000000' },
    { aggregator: ofDollar, blockNumber: DAYS_LATER, answer: '100000000' },
  ]);
  const wallet: PricedWallet = {
    ...served,
    async pool(token, reserves) {
      const pool = addressOf(Number(BigInt(token)) + 0x9a00);
      await database.query(
        sql`INSERT INTO pools (pool_key, chain_id, pool, status, exchange, factory, token0, token1, is_counted, due_at)
         VALUES (address_key(${hexBytes(pool)}), ${eth.id}, ${hexBytes(pool)}, 'proven', 'Uniswap v2', ${hexBytes(UNISWAP ?? '')}, ${hexBytes(token)}, ${hexBytes(USDC)}, true, NULL)`,
      );
      for (const [block, tokens, dollars] of reserves)
        await database.query(
          sql`INSERT INTO pool_states (pool_key, chain_id, block_number, transaction_index, log_index, pool, reserve0, reserve1)
           VALUES (address_key(${hexBytes(pool)}), ${eth.id}, ${block}, 0, 0, ${hexBytes(pool)}, ${tokens * 1e6}, ${dollars * 1e6})`,
        );
    },
    async hold(balances) {
      await served.stage.mine(
        balances.map(([token, whole]) => ({ token, from: MINTER, to: ALICE, value: BigInt(whole) * 1_000_000n })),
      );
      while (served.stage.tokens.head.number < HEAD) await served.stage.mine();
      await database.query(
        sql`UPDATE blocks SET block_timestamp = block_timestamp - CASE block_number WHEN 0 THEN interval '49 hours' ELSE interval '2 days' END
         WHERE block_number < ${DAYS_LATER}`,
      );
      await database.query(
        sql`UPDATE feed_answers AS answer SET updated_at = (SELECT block_timestamp FROM blocks
           WHERE blocks.chain_id = answer.chain_id AND blocks.block_number >= answer.block_number ORDER BY blocks.block_number LIMIT 1)`,
      );
      for (const dataset of ['pool-states', 'feed-answers']) await wallet.cover(dataset, 0);
    },
    async cover(dataset, first) {
      await database.query(sql`DELETE FROM sync_ranges WHERE dataset = ${dataset}`);
      await coverBlocks(database, eth.id, dataset, first, HEAD);
    },
    async body<Body>(path: string): Promise<Body> {
      const response = await served.request(path);
      if (response.status !== 200) throw new Error(`${response.status} ${await response.text()}`);
      return (await response.json()) as Body;
    },
  };
  return wallet;
}
