/** Feeds that are older than the index, on a real node followed by the real engine: values from the first block on, the same after a backfill. */
import type { Chain } from '@chainstead/chains';
import { feedsOf } from '@chainstead/chains/price-feeds';
import { type Address, createMetricsRegistry, silentLogger, systemClock } from '@chainstead/core';
import { hexBytes, sql } from '@chainstead/db';
import { openStateStage } from '@chainstead/node-reads/testing';
import type { Dataset } from '@chainstead/sync/datasets';
import { createChainSync, createSyncMetrics } from '@chainstead/sync/ingest';
import { addressOf, type CompiledContract, compileSolidity } from '@chainstead/testkit';
import { madeForFile, stageOfTest } from '@chainstead/testkit/hooks';
import { expect, onTestFinished, test, vi } from 'vitest';
import { feedAnswers } from '../feeds/feed-answers.ts';
import type { FeedState } from '../feeds/feed-quotes.ts';
import { readFeedValues } from '../feeds/feed-steps.ts';
import { readNewestRun, readStartsOfRuns } from './read-starts.ts';
import { feedReadingsReader } from './requested-readings.ts';

const SOURCE = `// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;
contract Aggregator {
  uint8 public constant decimals = 8;
  int256 current; uint80 round; uint256 updated;
  event AnswerUpdated(int256 indexed current, uint256 indexed roundId, uint256 updatedAt);
  function answer(int256 value) external {
    (current, round, updated) = (value, round + 1, block.timestamp);
    emit AnswerUpdated(value, round, block.timestamp);
  }
  function latestRoundData() external view returns (uint80, int256, uint256, uint256, uint80) {
    require(round > 0, "No data present");
    return (round, current, updated, updated, round);
  }
}
contract Proxy {
  uint16 public phaseId;
  mapping(uint16 => address) public phaseAggregators;
  function decimals() external view returns (uint8) { return Aggregator(phaseAggregators[phaseId]).decimals(); }
  function confirm(address aggregator) external { phaseAggregators[++phaseId] = aggregator; }
  function latestRoundData() external view returns (uint80, int256, uint256, uint256, uint80) {
    (uint80 round, int256 current, uint256 started, uint256 updated, uint80 answered) =
      Aggregator(phaseAggregators[phaseId]).latestRoundData();
    uint80 phase = uint80(phaseId) << 64;
    return (phase | round, current, started, updated, phase | answered);
  }
}`;

const PRUNED = {
  error: { code: -32_000, message: 'missing trie node 1b3f (path ) state 0x1b3f is not available' },
};
const NOWHERE = addressOf(0xdead);
const TOKENS = [addressOf(1), addressOf(2), addressOf(3), addressOf(4)] as const;

const contracts = madeForFile(async () => {
  const compiled = await compileSolidity({ 'Feeds.sol': SOURCE });
  const [aggregatorCode, proxyCode] = [compiled.get('Aggregator'), compiled.get('Proxy')];
  if (aggregatorCode === undefined || proxyCode === undefined) throw new Error('The contracts were not compiled');
  return { aggregatorCode, proxyCode };
});
const stage = stageOfTest(() =>
  openStateStage({ chain: { pollIntervalMs: 50, finalizedTag: false, confirmations: 1, reorgDepthMax: 8 } }),
);

/** A proxy in its second phase, with a value in each; an aggregator without a proxy; one without a value; and an address without a contract. */
async function deployFeeds() {
  const { aggregatorCode, proxyCode } = contracts;
  const { devnet } = stage;
  const call = (contract: CompiledContract, address: Address, functionName: string, argument: unknown) =>
    devnet.send({ address, abi: contract.abi, functionName, args: [argument], gas: 200_000n });
  const proxy = await devnet.deploy(proxyCode);
  const [first, second, alone, silent] = [
    ...[await devnet.deploy(aggregatorCode), await devnet.deploy(aggregatorCode)],
    ...[await devnet.deploy(aggregatorCode), await devnet.deploy(aggregatorCode)],
  ] as const;
  if (first === undefined || second === undefined || alone === undefined || silent === undefined)
    throw new Error('The node deployed nothing');
  const answer = (aggregator: Address, value: bigint) => call(aggregatorCode, aggregator, 'answer', value);
  await call(proxyCode, proxy, 'confirm', first);
  await answer(first, 90_000_000n);
  await call(proxyCode, proxy, 'confirm', second);
  await answer(second, 98_000_000n);
  await answer(second, 99_000_000n);
  await answer(alone, 200_000_000_000n);
  const feed = (address: Address, token: Address) => ({
    proxy: address,
    decimals: 8,
    aggregators: [],
    tokens: [token],
  });
  const chain: Chain = {
    ...stage.chain,
    tokenFeeds: [
      feed(proxy, TOKENS[0]),
      feed(alone, TOKENS[1]),
      feed(silent, TOKENS[2]),
      feed(NOWHERE, TOKENS[3]),
    ],
  };
  return { chain, proxy, second, alone, silent, answer };
}

/** Follows the chain until the end of the test, or until it is stopped. */
function follow(chain: Chain, startBlock: number | null): { stop(): Promise<void> } {
  const { pool, scratch } = stage;
  const ending = new AbortController();
  const running = createChainSync({
    ...{ chain, pool, database: scratch.database, datasets: [feedAnswers as Dataset] },
    ...{ logger: silentLogger(), metrics: createSyncMetrics(createMetricsRegistry()), clock: systemClock },
    settings: {
      ...{ startBlock, endBlock: null, proof: 'record', backfillProof: 'none' },
      ...{ backfillOrder: 'newest-first', verifyBlocksPerSecond: 0 },
    },
  }).run(ending.signal);
  const stop = async () => {
    ending.abort();
    await running;
  };
  onTestFinished(stop);
  return { stop };
}

async function caughtUp(): Promise<number> {
  const { devnet, scratch } = stage;
  return vi.waitFor(
    async () => {
      const head = await devnet.client.getBlock();
      const [row] = await scratch.database.query<{ hash: string | null }>(
        sql`SELECT '0x' || encode(checkpoint_hash, 'hex') AS hash FROM sync_chains`,
      );
      expect(row?.hash).toBe(head.hash);
      return Number(head.number);
    },
    { timeout: 30_000, interval: 20 },
  );
}

const contextOf = (chain: Chain) => ({
  ...{ database: stage.scratch.database, chain, pool: stage.pool, logger: silentLogger() },
});
const readNewest = (chain: Chain) => readNewestRun(contextOf(chain), AbortSignal.timeout(20_000));
const readStarts = (chain: Chain) => readStartsOfRuns(contextOf(chain), AbortSignal.timeout(20_000));

/** The states of the feeds in their order. */
async function statesAt(chain: Chain, block: number): Promise<readonly (FeedState | undefined)[]> {
  const { timestamp } = await stage.devnet.client.getBlock({ blockNumber: BigInt(block) });
  const found = await readFeedValues(stage.scratch.database, chain, { block, time: Number(timestamp) });
  return feedsOf(chain).map(({ proxy }) => found.get(proxy));
}

const usdOf = (state: FeedState | undefined) => (state?.of === 'value' ? state.value.usd.numerator : state?.of);

test('a feed that is older than the index has its value from the first block on, and the same after a backfill', async () => {
  const { chain, second, alone, silent, answer } = await deployFeeds();
  await stage.devnet.mine(20);
  const following = follow(chain, null);
  const start = await caughtUp();
  expect((await statesAt(chain, start)).map(usdOf)).toEqual(['pending', 'pending', 'pending', 'pending']);
  await readNewest(chain);
  const states = await statesAt(chain, start);
  const eight = 10n ** 8n;
  expect(states).toEqual([
    {
      of: 'value',
      value: {
        ...{ usd: { numerator: 99_000_000n, denominator: eight }, aggregator: second, round: '2', block: start },
        log: null,
      },
    },
    {
      of: 'value',
      value: {
        ...{
          usd: { numerator: 200_000_000_000n, denominator: eight },
          aggregator: alone,
          round: '1',
          block: start,
        },
        log: null,
      },
    },
    { of: 'unknown' },
    { of: 'absent' },
  ]);
  await answer(silent, 5n);
  await answer(alone, 210_000_000_000n);
  const head = await caughtUp();
  expect((await statesAt(chain, head)).map(usdOf)).toEqual([99_000_000n, 210_000_000_000n, 'unknown', 'absent']);
  // The refresh of aggregators, every ten minutes, makes the logs of the third feed count.
  await stage.scratch.database.query(
    sql`INSERT INTO price_feed_phases (feed, chain_id, aggregator, decimals) SELECT feed, chain_id, feed, 8 FROM feed_readings WHERE status = 'silent'`,
  );
  expect((await statesAt(chain, head)).map(usdOf)).toEqual([99_000_000n, 210_000_000_000n, 5n, 'absent']);
  const readings = () =>
    stage.scratch.database.query(sql`SELECT * FROM feed_readings ORDER BY feed, block_number`);
  const stored = await readings();
  await readNewest(chain);
  expect(await readings()).toEqual(stored);
  await following.stop();

  follow(chain, 0);
  await vi.waitFor(
    async () => {
      const [covered] = await stage.scratch.database.query<{ blocks: number }>(
        sql`SELECT sum(last_block - first_block + 1)::int AS blocks FROM sync_ranges WHERE dataset = 'feed-answers'`,
      );
      expect(covered?.blocks).toBe(head + 1);
    },
    { timeout: 30_000, interval: 50 },
  );
  expect(await statesAt(chain, start)).toEqual(states);
  expect((await statesAt(chain, start - 1)).map(usdOf)).toEqual([
    99_000_000n,
    200_000_000_000n,
    'pending',
    'absent',
  ]);
  expect((await statesAt(chain, start - 1))[0]).toMatchObject({ value: { round: '2', log: { logIndex: 0 } } });
  expect((await statesAt(chain, 1)).map(usdOf)).toEqual(['pending', 'pending', 'pending', 'absent']);
  // The first block of all has no rows, so that its hash was not known. No contract existed.
  const genesis = await stage.devnet.client.getBlock({ blockNumber: 0n });
  await stage.scratch.database.query(
    sql`INSERT INTO blocks (chain_id, block_number, block_hash, block_timestamp) VALUES (${chain.id}, 0, ${hexBytes(genesis.hash)}, to_timestamp(${Number(genesis.timestamp)}::float8)) ON CONFLICT DO NOTHING`,
  );
  await readStarts(chain);
  expect((await statesAt(chain, 1)).map(usdOf)).toEqual(['absent', 'absent', 'absent', 'absent']);
  expect(await statesAt(chain, start)).toEqual(states);
});

test('without the state of the first block, the feed is read at the newest one, and again after a reorg of that block', async () => {
  const { chain, second, answer } = await deployFeeds();
  const { devnet, node, scratch } = stage;
  await devnet.mine(5);
  follow(chain, null);
  const start = await caughtUp();
  const { hash } = await devnet.client.getBlock({ blockNumber: BigInt(start) });
  node.alter = ({ method, params }) =>
    method === 'eth_call' && JSON.stringify(params).includes(hash) ? PRUNED : undefined;
  await devnet.mine(3);
  const newest = await caughtUp();
  await readNewest(chain);
  const statuses = () =>
    scratch.database.query<{ block: number; status: string }>(
      sql`SELECT block_number AS block, status FROM feed_readings WHERE chain_id = ${chain.id} ORDER BY block_number, status`,
    );
  const atStart = Array.from({ length: 4 }, () => ({ block: start, status: 'unavailable' }));
  const read = (block: number) => ['absent', 'answer', 'answer', 'silent'].map((status) => ({ block, status }));
  expect(await statuses()).toEqual([...atStart, ...read(newest)]);
  expect((await statesAt(chain, newest - 1)).map(usdOf)).toEqual(['pending', 'pending', 'pending', 'absent']);
  expect((await statesAt(chain, newest)).map(usdOf)).toEqual([
    99_000_000n,
    200_000_000_000n,
    'unknown',
    'absent',
  ]);
  // A node is not asked again for state that it does not have.
  const asked = node.received.length;
  await readNewest(chain);
  await readStarts(chain);
  expect(node.received.slice(asked).filter(({ method }) => method === 'eth_call')).toEqual([]);

  await devnet.reorg(2);
  await caughtUp();
  expect(await statuses()).toEqual(atStart);
  await answer(second, 97_000_000n);
  const later = await caughtUp();
  expect((await statesAt(chain, later)).map(usdOf)).toEqual([97_000_000n, 'pending', 'pending', 'pending']);
  await readNewest(chain);
  // The log is a value: only the others are read.
  expect(await statuses()).toEqual([...atStart, ...read(later).toSpliced(1, 1)]);
  expect((await statesAt(chain, later)).map(usdOf)).toEqual([97_000_000n, 200_000_000_000n, 'unknown', 'absent']);
});

test('a failed read leaves the feeds unknown until the next one', async () => {
  const { chain } = await deployFeeds();
  const { node } = stage;
  follow(chain, null);
  const start = await caughtUp();
  node.alter = ({ method }) =>
    method === 'eth_call' ? { error: { code: -32_005, message: 'limit exceeded' } } : undefined;
  await expect(readNewest(chain)).rejects.toThrow();
  expect((await statesAt(chain, start)).map(usdOf)).toEqual(['pending', 'pending', 'pending', 'pending']);
  node.alter = () => undefined;
  await vi.waitFor(() => readNewest(chain), { timeout: 15_000 });
  expect((await statesAt(chain, start)).map(usdOf)).toEqual([99_000_000n, 200_000_000_000n, 'unknown', 'absent']);
});

test('feeds are read on request at a block that is not indexed, and count there alone', async () => {
  const { chain, alone, answer } = await deployFeeds();
  const { devnet, pool, scratch } = stage;
  const head = await devnet.client.getBlock();
  const [old, next] = [Number(head.number), Number(head.number) + 1];
  await answer(alone, 210_000_000_000n);
  for (const number of [old, next]) {
    const { hash, timestamp } = await devnet.client.getBlock({ blockNumber: BigInt(number) });
    await scratch.database.query(
      sql`INSERT INTO blocks (chain_id, block_number, block_hash, block_timestamp) VALUES (${chain.id}, ${number}, ${hexBytes(hash)}, to_timestamp(${Number(timestamp)}::float8))`,
    );
  }
  const context = { chain, pool, database: scratch.database, clock: systemClock, logger: silentLogger() };
  const missing = next + 1;
  const read = await feedReadingsReader.read(context, { blocks: [old, missing] }, AbortSignal.timeout(20_000));
  // The other block is not known.
  expect(read).toEqual({ blocks: 1 });
  expect((await statesAt(chain, old)).map(usdOf)).toEqual([99_000_000n, 200_000_000_000n, 'unknown', 'absent']);
  expect((await statesAt(chain, next)).map(usdOf)).toEqual(['pending', 'pending', 'pending', 'pending']);
});
