import { createMetricsRegistry, silentLogger } from '@chainstead/core';
import { sql } from '@chainstead/db';
import { addressOf, exampleChain, storeBlocks } from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { expect, test } from 'vitest';
import { seedAnswers } from '../testing/seeded-prices.ts';
import { measureFeedAges } from './feed-age.ts';
import { saveFeedPhases, seedPriceSources } from './price-sources.ts';

const [ETHER, DOLLAR, SILENT] = [addressOf(0xe), addressOf(0xd), addressOf(0x5)];
const [FIRST, SECOND, THIRD, FOREIGN] = [addressOf(1), addressOf(2), addressOf(3), addressOf(4)];
const TOKEN = addressOf(10);
const START = 1_700_000_000;
const HEAD = 100;
const ether = { proxy: ETHER, decimals: 8, aggregators: [FIRST], heartbeatSeconds: 3_600 };
const chain = exampleChain({
  etherPrice: { feed: ether, pools: [] },
  tokenFeeds: [
    { proxy: DOLLAR, decimals: 8, aggregators: [SECOND], tokens: [TOKEN, addressOf(11)] },
    { proxy: SILENT, decimals: 8, aggregators: [addressOf(5)], tokens: [addressOf(0)] },
  ],
});

const scratch = scratchOfFile();

test('the age of a feed is that of its newest value at the checkpoint, whichever aggregator has it', async () => {
  const { database } = scratch;
  await seedPriceSources(database, chain);
  await saveFeedPhases(database, chain, ether, [{ aggregator: THIRD, decimals: 8 }]);
  await storeBlocks(database, chain.id, 0, HEAD, { start: START });
  await database.query(
    sql`INSERT INTO sync_chains (chain_id, chain_key, history_start, first_followed, checkpoint, head) VALUES (${chain.id}, ${chain.key}, 0, 0, ${HEAD}, ${HEAD})`,
  );
  const values = [
    [FIRST, 10],
    [THIRD, 20],
    [THIRD, 50],
    [SECOND, 30],
    [FOREIGN, 90],
  ] as const;
  await seedAnswers(
    database,
    chain,
    values.map(([aggregator, blockNumber]) => ({
      aggregator,
      blockNumber,
      answer: '1',
      time: START + blockNumber * 12,
    })),
  );
  const registry = createMetricsRegistry();
  measureFeedAges({ registry, database, chains: [chain], logger: silentLogger() });
  const lines = (await registry.metrics()).split('\n').filter((line) => /^chainstead_price_feed/.test(line));
  const labels = (token: string, feed: string) => `{chain="${chain.key}",token="${token}",feed="${feed}"}`;
  expect(lines.toSorted()).toEqual([
    `chainstead_price_feed_age_seconds${labels(TOKEN, DOLLAR)} 840`,
    `chainstead_price_feed_age_seconds${labels('ether', ETHER)} 600`,
    `chainstead_price_feed_heartbeat_seconds${labels(TOKEN, DOLLAR)} 90000`,
    `chainstead_price_feed_heartbeat_seconds${labels(chain.native.symbol, SILENT)} 90000`,
    `chainstead_price_feed_heartbeat_seconds${labels('ether', ETHER)} 3600`,
  ]);
});
