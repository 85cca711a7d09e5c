import type { Chain } from '@chainstead/chains';
import type { Logger } from '@chainstead/core';
import type { Database } from '@chainstead/db';
import type { Schedule } from '@chainstead/jobs';
import type { UpstreamPool } from '@chainstead/rpc';
import { createFeedPhasesReader } from './feed-phases.ts';
import { saveFeedPhases, seedPriceSources } from './price-sources.ts';

export interface EtherPriceScheduleOptions {
  readonly database: Database;
  /** Chains whose price sources this process updates. */
  readonly chains: readonly { readonly chain: Chain; readonly pool: UpstreamPool }[];
  readonly logger: Logger;
  /** Time between two reads of a feed's aggregators. Default 600,000 ms. */
  readonly refreshEveryMs?: number;
}

const REFRESH_EVERY_MS = 600_000;
const REFRESH_MS_MAX = 60_000;

/**
 * Stores the configured price sources of the chains. Returns a schedule `ether-price-<chain>` for each chain with a feed: it detects
 * aggregators that change behind the feed's proxy. Their prices are already indexed, but not yet used for ether.
 */
export async function createEtherPriceSchedules(options: EtherPriceScheduleOptions): Promise<Schedule[]> {
  const { database, logger, refreshEveryMs = REFRESH_EVERY_MS } = options;
  const schedules: Schedule[] = [];
  for (const { chain, pool } of options.chains) {
    await seedPriceSources(database, chain);
    const { feed } = chain.etherPrice;
    if (feed === null) continue;
    const reader = createFeedPhasesReader(pool, feed);
    schedules.push({
      name: `ether-price-${chain.key}`,
      everyMs: refreshEveryMs,
      async run(ending) {
        const phases = await reader.read(AbortSignal.any([ending, AbortSignal.timeout(REFRESH_MS_MAX)]));
        if (phases === null) return;
        const fields = { chain: chain.key, feed: feed.proxy };
        if (phases.length === 0) {
          logger.warn(fields, 'There is no price feed at this address');
          return;
        }
        await saveFeedPhases(database, chain, feed.proxy, phases);
        logger.info({ ...fields, aggregators: phases.length }, 'Aggregators of the price feed read');
      },
    });
  }
  return schedules;
}
