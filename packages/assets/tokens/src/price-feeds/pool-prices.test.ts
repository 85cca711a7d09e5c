import { createChainRegistry, type EtherPool } from '@chainstead/chains';
import { type Log, parseHash } from '@chainstead/core';
import {
  addressOf,
  exampleChain,
  fieldsOfRow,
  hashOf,
  readRecordedLogs,
  recordedData,
} from '@chainstead/testkit';
import { encodeAbiParameters, toEventSelector } from 'viem';
import { describe, expect, test } from 'vitest';
import { dollarsOf, priceOfPool } from './ether-price.ts';
import { poolPrices, pricingPools, SWAP_EVENTS } from './pool-prices.ts';
import type { PoolPriceRow } from './schema.ts';

const { isMissing, title } = recordedData('data/evm');

const registry = createChainRegistry();
const uniswap: EtherPool = {
  address: addressOf(1),
  protocol: 'uniswap-v3',
  etherIs: 'token1',
  dollarDecimals: 6,
};
const pancake: EtherPool = {
  address: addressOf(2),
  protocol: 'pancakeswap-v3',
  etherIs: 'token0',
  dollarDecimals: 18,
};
const chain = exampleChain({ etherPrice: { feed: null, pools: [pancake, uniswap] } });
const decode = (logs: readonly Log[], of = chain): PoolPriceRow[] =>
  poolPrices.decode(logs, { chain: of, timestampOf: () => 1_700_000_000 });

const words = (pool: EtherPool, price: bigint): readonly bigint[] => [
  1n,
  2n,
  price,
  ...Array.from({ length: SWAP_EVENTS[pool.protocol].abi.inputs.length - 5 }, () => 3n),
];

function swap(pool: EtherPool, price: bigint, place: Partial<Log> = {}): Log {
  const values = words(pool, price);
  return {
    address: pool.address,
    topics: [SWAP_EVENTS[pool.protocol].topic, hashOf(0, 1), hashOf(0, 2)].map(parseHash),
    data: encodeAbiParameters(
      values.map(() => ({ type: 'uint256' }) as const),
      values,
    ),
    blockNumber: 7,
    blockHash: hashOf(1, 7),
    transactionHash: hashOf(2, 7),
    transactionIndex: 0,
    logIndex: 0,
    blockTimestamp: null,
    ...place,
  };
}

test('the topics are the hashes of the events', () => {
  expect(toEventSelector('Swap(address,address,int256,int256,uint160,uint128,int24)')).toBe(
    SWAP_EVENTS['uniswap-v3'].topic,
  );
  expect(toEventSelector('Swap(address,address,int256,int256,uint160,uint128,int24,uint128,uint128)')).toBe(
    SWAP_EVENTS['pancakeswap-v3'].topic,
  );
  expect(poolPrices.topics(chain)).toEqual([
    SWAP_EVENTS['pancakeswap-v3'].topic,
    SWAP_EVENTS['uniswap-v3'].topic,
  ]);
});

test('of each pool the last swap of a block is kept', () => {
  const rows = decode([
    swap(uniswap, 10n),
    swap(pancake, 20n, { logIndex: 1 }),
    swap(uniswap, 11n, { transactionIndex: 1, logIndex: 2 }),
    swap(uniswap, 12n, { blockNumber: 8 }),
  ]);
  expect(
    rows.map(({ pool, blockNumber, transactionIndex, logIndex, sqrtPriceX96 }) => [
      pool,
      blockNumber,
      transactionIndex,
      logIndex,
      sqrtPriceX96,
    ]),
  ).toEqual([
    [uniswap.address, 7, 1, 2, '11'],
    [pancake.address, 7, 0, 1, '20'],
    [uniswap.address, 8, 0, 0, '12'],
  ]);
  for (const row of rows)
    expect(fieldsOfRow(poolPrices.table.copyLine(row))).toHaveLength(poolPrices.table.columns.length);
});

test.each<[string, Log]>([
  ['another contract', swap({ ...uniswap, address: addressOf(3) }, 1n)],
  ['the other protocol’s event', swap({ ...uniswap, protocol: 'pancakeswap-v3' }, 1n)],
  ['a price of zero', swap(uniswap, 0n)],
  ['other topics', swap(uniswap, 1n, { topics: [SWAP_EVENTS['uniswap-v3'].topic] })],
  ['cut data', swap(uniswap, 1n, { data: '0x00' })],
])('a swap of %s tells no price', (_, log) => {
  expect(decode([log])).toEqual([]);
});

test('where a feed tells the price, swaps are not read', () => {
  const eth = registry.get('eth');
  expect(eth.etherPrice.pools).not.toEqual([]);
  expect([pricingPools(eth), poolPrices.topics(eth), decode([swap(uniswap, 1n)], eth)]).toEqual([[], [], []]);
});

describe.skipIf(isMissing)(title('in recorded blocks'), () => {
  test.each([
    ['eth', 'ethereum/14000020', 3_000, 3_500],
    ['eth', 'ethereum/15000000', 1_000, 1_300],
    ['polygon', 'polygon/35779986', 1_100, 1_300],
    ['polygon', 'polygon/35780020', 1_100, 1_300],
  ])('a pool of %s says in %s what ether was worth', (key, block, least, most) => {
    const { pools } = registry.get(key).etherPrice;
    const rows = decode(readRecordedLogs(block), exampleChain({ etherPrice: { feed: null, pools } }));
    const prices = rows.map((row) => {
      const found = pools.find(({ address }) => address === row.pool);
      if (found === undefined) throw new Error(`${row.pool} is no pool`);
      return Number(dollarsOf((10n ** 18n).toString(), priceOfPool(row.sqrtPriceX96, found)));
    });
    expect(prices).toHaveLength(1);
    expect(prices[0]).toBeGreaterThan(least);
    expect(prices[0]).toBeLessThan(most);
  });
});
