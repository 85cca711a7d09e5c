import type { Chain } from '@chainstead/chains';
import {
  DEFAULT_HEARTBEAT_SECONDS,
  feedsOf,
  type PriceFeed,
  type TokenFeed,
} from '@chainstead/chains/price-feeds';
import {
  type Address,
  defineMetrics,
  errorText,
  gauge,
  type Logger,
  type Registry,
  ZERO_ADDRESS,
} from '@chainstead/core';
import { type Database, hexText, readWithin, sql } from '@chainstead/db';

export interface FeedAgeOptions {
  readonly registry: Registry;
  readonly database: Pick<Database, 'until'>;
  readonly chains: readonly Chain[];
  readonly logger: Logger;
}

/** Milliseconds: a scrape must not wait for an unresponsive database. */
const READ_MS = 1_000;

export const createFeedMetrics = defineMetrics('chainstead_price_feed', {
  ageSeconds: gauge(
    'Time from the newest value of a price feed to the newest followed block of its chain. Absent if no value is stored',
    ['chain', 'token', 'feed'],
  ),
  heartbeatSeconds: gauge('Longest time between two values of a price feed. An older value does not count', [
    'chain',
    'token',
    'feed',
  ]),
});

/** A feed without a stored value has no age. */
export function measureFeedAges({ registry, database, chains, logger }: FeedAgeOptions): void {
  const { ageSeconds, heartbeatSeconds } = createFeedMetrics(registry);
  ageSeconds.addReading(async () => {
    try {
      const [rows = []] = await readWithin<{ chainId: number; feed: Address; age: number }>(database, READ_MS, [
        AGES_SQL,
      ]);
      ageSeconds.reset();
      for (const row of rows) {
        const chain = chains.find(({ id }) => id === row.chainId);
        const feed = chain && feedsOf(chain).find(({ proxy }) => proxy === row.feed);
        if (chain !== undefined && feed !== undefined) ageSeconds.set(labelsOf(chain, feed), row.age);
      }
    } catch (error) {
      logger.debug({ reason: errorText(error) }, 'Ages of price feeds could not be read');
    }
  });
  for (const chain of chains)
    for (const feed of feedsOf(chain))
      heartbeatSeconds.set(labelsOf(chain, feed), feed.heartbeatSeconds ?? DEFAULT_HEARTBEAT_SECONDS);
}

/** Ages count to the checkpoint, so that a chain that lags has no old feeds. */
const AGES_SQL = sql`SELECT phase.chain_id, ${hexText('phase.feed')} AS feed,
    greatest(extract(epoch FROM max(block.block_timestamp) - max(newest.updated_at))::float8, 0) AS age
  FROM price_feed_phases AS phase
  JOIN sync_chains AS chain ON chain.chain_id = phase.chain_id
  JOIN blocks AS block ON block.chain_id = chain.chain_id AND block.block_number = chain.checkpoint
  CROSS JOIN LATERAL (
    (SELECT updated_at FROM feed_answers AS answer WHERE answer.aggregator = phase.aggregator AND answer.chain_id = phase.chain_id
    ORDER BY block_number DESC, transaction_index DESC, log_index DESC LIMIT 1)
    UNION ALL (SELECT updated_at FROM feed_readings AS reading WHERE reading.feed = phase.feed AND reading.chain_id = phase.chain_id
    AND reading.updated_at IS NOT NULL ORDER BY block_number DESC LIMIT 1)) AS newest
  GROUP BY phase.chain_id, phase.feed`;

/** Token: `ether`, the native symbol, or the address of the first with that price. */
function labelsOf(chain: Chain, feed: PriceFeed | TokenFeed): Record<'chain' | 'token' | 'feed', string> {
  const [first] = 'tokens' in feed ? feed.tokens : [];
  const token = first === undefined ? 'ether' : first === ZERO_ADDRESS ? chain.native.symbol : first;
  return { chain: chain.key, token, feed: feed.proxy };
}
