import { type Chain, createChainRegistry } from '@chainstead/chains';
import type { PriceFeed, TokenFeed } from '@chainstead/chains/price-feeds';
import {
  type Address,
  createMetricsRegistry,
  type Hash,
  type Log,
  parseAddress,
  parseHash,
  silentLogger,
} from '@chainstead/core';
import { sql } from '@chainstead/db';
import { createSchedules } from '@chainstead/jobs/worker';
import type { UpstreamPool } from '@chainstead/rpc';
import {
  addressOf,
  type CompiledContract,
  compileSolidity,
  createScratchDatabase,
  type Devnet,
  exampleChain,
  examplePool,
  type ScratchDatabase,
  startDevnet,
} from '@chainstead/testkit';
import type { TransactionReceipt } from 'viem';
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { feedAnswers } from './feeds/feed-answers.ts';
import { createFeedPhasesReader, seedPriceSources } from './feeds/price-sources.ts';
import { createPriceFeedSchedules } from './price-feed-worker.ts';

/** As much of Chainlink's proxy and aggregator as is called and emitted. */
const SOURCE = `// SPDX-License-Identifier: MIT
pragma solidity ^0.8.20;
contract Aggregator {
  uint8 public immutable decimals;
  event AnswerUpdated(int256 indexed current, uint256 indexed roundId, uint256 updatedAt);
  constructor(uint8 digits) { decimals = digits; }
  function answer(int256 current, uint256 round) external { emit AnswerUpdated(current, round, block.timestamp); }
}
contract Proxy {
  uint16 public phaseId;
  mapping(uint16 => address) public phaseAggregators;
  function decimals() external view returns (uint8) { return Aggregator(phaseAggregators[phaseId]).decimals(); }
  function confirm(address aggregator) external { phaseAggregators[++phaseId] = aggregator; }
}
`;

let devnet: Devnet;
let scratch: ScratchDatabase;
let proxyCode: CompiledContract;
let aggregatorCode: CompiledContract;
let pool: UpstreamPool;

beforeAll(async () => {
  const contracts = await compileSolidity({ 'Feed.sol': SOURCE });
  const [proxy, aggregator] = [contracts.get('Proxy'), contracts.get('Aggregator')];
  if (proxy === undefined || aggregator === undefined) throw new Error('The contracts were not compiled');
  proxyCode = proxy;
  aggregatorCode = aggregator;
  [devnet, scratch] = await Promise.all([startDevnet(), createScratchDatabase()]);
  pool = await examplePool(exampleChain({ id: devnet.chainId }), devnet.url);
});
afterAll(async () => {
  await pool.close();
  await devnet.stop();
  await scratch.drop();
});
beforeEach(async () => {
  await scratch.database.query(sql`TRUNCATE price_feed_phases, payment_tokens`);
});

const signal = (): AbortSignal => AbortSignal.timeout(10_000);
const chainWith = (feed: PriceFeed | null, tokenFeeds: readonly TokenFeed[] = []): Chain =>
  exampleChain({ id: devnet.chainId, key: 'devnet', etherPrice: { feed, pools: [] }, tokenFeeds });
const feedAt = (proxy: Address, aggregators: readonly Address[] = []): PriceFeed => ({
  proxy,
  decimals: 8,
  aggregators,
});
const deployAggregator = (decimals: number): Promise<Address> => devnet.deploy(aggregatorCode, [decimals]);
const confirm = (proxy: Address, aggregator: Address): Promise<TransactionReceipt> =>
  devnet.send({ address: proxy, abi: proxyCode.abi, functionName: 'confirm', args: [aggregator] });

const storedPhases = (): Promise<{ aggregator: Address; decimals: number }[]> =>
  scratch.database.query(
    sql`SELECT '0x' || encode(aggregator, 'hex') AS aggregator, decimals FROM price_feed_phases ORDER BY updated_at, aggregator`,
  );

async function startWorker(chain: Chain): Promise<void> {
  const { url, database } = scratch;
  const logger = silentLogger();
  const schedules = await createSchedules({
    databaseUrl: url,
    redisUrl: null,
    logger,
    metrics: createMetricsRegistry(),
  });
  onTestFinished(() => schedules.close());
  await schedules.start(
    await createPriceFeedSchedules({ database, chains: [{ chain, pool }], logger, refreshEveryMs: 100 }),
  );
}

describe('a feed', () => {
  test('names the aggregators of all its phases once, and again when there is a new one', async () => {
    const proxy = await devnet.deploy(proxyCode);
    const [first, second, third] = [
      await deployAggregator(8),
      await deployAggregator(8),
      await deployAggregator(8),
    ];
    await confirm(proxy, first);
    await confirm(proxy, second);
    const reader = createFeedPhasesReader(pool, feedAt(proxy));
    const phases = (aggregators: readonly Address[]) =>
      aggregators.map((aggregator) => ({ aggregator, decimals: 8 }));
    expect(await reader.read(signal())).toEqual(phases([first, second]));
    expect(await reader.read(signal())).toBeNull();
    await confirm(proxy, third);
    expect(await reader.read(signal())).toEqual(phases([first, second, third]));
  });

  test('that is an aggregator itself names itself, with its own decimals', async () => {
    const aggregator = await deployAggregator(18);
    expect(await createFeedPhasesReader(pool, feedAt(aggregator)).read(signal())).toEqual([
      { aggregator, decimals: 18 },
    ]);
  });

  test('that is no contract names none', async () => {
    expect(await createFeedPhasesReader(pool, feedAt(addressOf(0xdead))).read(signal())).toEqual([]);
  });
});

describe('the worker', () => {
  test('keeps up with a feed whose aggregator changes; its word on decimals wins', async () => {
    const proxy = await devnet.deploy(proxyCode);
    const [first, second] = [await deployAggregator(18), await deployAggregator(18)];
    await confirm(proxy, first);
    await startWorker(chainWith(feedAt(proxy, [first])));
    await vi.waitFor(
      async () => expect(await storedPhases()).toEqual([{ aggregator: first, decimals: 18 }]),
      soon,
    );
    await confirm(proxy, second);
    await vi.waitFor(
      async () =>
        expect((await storedPhases()).map(({ aggregator }) => aggregator).sort()).toEqual([first, second].sort()),
      soon,
    );
  });

  test('reads the aggregators of all feeds, and marks those of ether', async () => {
    const [ether, dollar] = [await devnet.deploy(proxyCode), await devnet.deploy(proxyCode)];
    const [first, second] = [await deployAggregator(8), await deployAggregator(8)];
    await confirm(ether, first);
    await confirm(dollar, second);
    const token = { ...feedAt(dollar), tokens: [addressOf(1)] };
    await startWorker(
      chainWith(feedAt(ether), [token, { ...feedAt(addressOf(0xdead)), tokens: [addressOf(2)] }]),
    );
    const marked = (): Promise<{ aggregator: Address; isEther: boolean }[]> =>
      scratch.database.query(
        sql`SELECT '0x' || encode(aggregator, 'hex') AS aggregator, is_ether FROM price_feed_phases ORDER BY is_ether DESC`,
      );
    await vi.waitFor(
      async () =>
        expect(await marked()).toEqual([
          { aggregator: first, isEther: true },
          { aggregator: second, isEther: false },
        ]),
      soon,
    );
  });

  test('leaves the chain’s facts where nobody answers at the feed’s address', async () => {
    await startWorker(chainWith(feedAt(addressOf(0xdead), [addressOf(7)])));
    expect(await storedPhases()).toEqual([{ aggregator: addressOf(7), decimals: 8 }]);
  });
});

describe('facts', () => {
  test('of a chain are written once, and again when they change', async () => {
    const registry = createChainRegistry();
    const stored = () =>
      scratch.database.query(
        sql`SELECT chain_id, '0x' || encode(token_address, 'hex') AS token, symbol, is_ether FROM payment_tokens ORDER BY chain_id, symbol`,
      );
    for (const chain of [registry.get('eth'), registry.get('polygon'), registry.get('eth')])
      await seedPriceSources(scratch.database, chain);
    const nativeCurrency = `0x${'0'.repeat(40)}`;
    const { wrappedNative, bridgedEther } = registry.get('polygon');
    expect(await stored()).toEqual([
      { chainId: 1, token: nativeCurrency, symbol: 'ETH', isEther: true },
      { chainId: 1, token: registry.get('eth').wrappedNative, symbol: 'WETH', isEther: true },
      { chainId: 137, token: nativeCurrency, symbol: 'POL', isEther: false },
      { chainId: 137, token: bridgedEther, symbol: 'WETH', isEther: true },
      { chainId: 137, token: wrappedNative, symbol: 'WPOL', isEther: false },
    ]);
    // Ether has 2 and 1 aggregators, dollars have 1 each, and POL has 1.
    expect(await storedPhases()).toHaveLength(6);
    const renamed = exampleChain({ native: { name: 'Gold', symbol: 'GLD', decimals: 18, isEther: false } });
    await seedPriceSources(scratch.database, renamed);
    expect((await stored()).slice(0, 2)).toMatchObject([
      { chainId: 1, token: nativeCurrency, symbol: 'GLD', isEther: false },
      { chainId: 137 },
    ]);
    // Polygon's aggregators are left.
    expect(await storedPhases()).toHaveLength(3);
  });
});

test('an answer that an aggregator really emits is decoded', async () => {
  const aggregator = await deployAggregator(8);
  const call = { address: aggregator, abi: aggregatorCode.abi, functionName: 'answer' };
  const receipts = [
    await devnet.send({ ...call, args: [200_000_000_000n, 41n] }),
    await devnet.send({ ...call, args: [-3n, 42n] }),
  ];
  const rows = feedAnswers.decode(receipts.flatMap(logsOf), {
    chain: chainWith(feedAt(aggregator)),
    timestampOf: () => 1_700_000_000,
  });
  expect(rows).toMatchObject([
    { aggregator, round: '41', answer: '200000000000' },
    { aggregator, round: '42', answer: '-3' },
  ]);
});

const soon = { timeout: 15_000, interval: 50 };

function logsOf({ logs }: TransactionReceipt): Log[] {
  return logs.map((log) => ({
    address: parseAddress(log.address),
    topics: log.topics.map((topic): Hash => parseHash(topic)),
    data: log.data,
    blockNumber: Number(log.blockNumber),
    blockHash: parseHash(log.blockHash),
    transactionHash: parseHash(log.transactionHash),
    transactionIndex: log.transactionIndex,
    logIndex: log.logIndex,
    blockTimestamp: null,
  }));
}
