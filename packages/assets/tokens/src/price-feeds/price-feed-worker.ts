import type { Chain } from '@chainstead/chains';
import { feedsOf } from '@chainstead/chains/price-feeds';
import type { Logger } from '@chainstead/core';
import type { Database } from '@chainstead/db';
import type { Schedule } from '@chainstead/jobs/worker';
import type { UpstreamPool } from '@chainstead/rpc';
import { createFeedPhasesReader, saveFeedPhases, seedPriceSources } from './feeds/price-sources.ts';
import { readNewestRun, readStartsOfRuns } from './readings/read-starts.ts';

export interface PriceFeedScheduleOptions {
  readonly database: Database;
  readonly chains: readonly { readonly chain: Chain; readonly pool: UpstreamPool }[];
  readonly logger: Logger;
  /** Milliseconds between reads of aggregators. */
  readonly refreshEveryMs?: number;
  /** Milliseconds between searches for feeds without a value in the newest blocks. */
  readonly readEveryMs?: number;
}

const REFRESH_MS_MAX = 60_000;
const READ_MS_MAX = 30_000;

/** `feed-readings-<chain>`: the newest run; `price-feeds-<chain>`: older runs, aggregators. */
export async function createPriceFeedSchedules({
  database,
  chains,
  logger,
  refreshEveryMs = 600_000,
  readEveryMs = 5_000,
}: PriceFeedScheduleOptions): Promise<Schedule[]> {
  const schedules: Schedule[] = [];
  for (const { chain, pool } of chains) {
    await seedPriceSources(database, chain);
    const readers = feedsOf(chain).map((feed) => ({ feed, reader: createFeedPhasesReader(pool, feed) }));
    if (readers.length === 0) continue;
    const context = { database, chain, pool, logger };
    schedules.push({
      name: `feed-readings-${chain.key}`,
      everyMs: readEveryMs,
      run: (ending) => readNewestRun(context, AbortSignal.any([ending, AbortSignal.timeout(READ_MS_MAX)])),
    });
    schedules.push({
      name: `price-feeds-${chain.key}`,
      everyMs: refreshEveryMs,
      async run(ending) {
        const signal = AbortSignal.any([ending, AbortSignal.timeout(REFRESH_MS_MAX)]);
        for (const { feed, reader } of readers) {
          const phases = await reader.read(signal);
          if (phases === null) continue;
          const fields = { chain: chain.key, feed: feed.proxy };
          if (phases.length === 0) {
            logger.warn(fields, 'There is no price feed at this address');
            continue;
          }
          await saveFeedPhases(database, chain, feed, phases);
          logger.info({ ...fields, aggregators: phases.length }, 'Aggregators of the price feed read');
        }
        await readStartsOfRuns(context, signal);
      },
    });
  }
  return schedules;
}
