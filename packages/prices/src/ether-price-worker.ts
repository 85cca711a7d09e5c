import type { Chain } from '@chainstead/chains';
import type { Logger } from '@chainstead/core';
import type { Database } from '@chainstead/db';
import type { Jobs } from '@chainstead/jobs';
import type { UpstreamPool } from '@chainstead/rpc';
import { z } from 'zod';
import { createFeedPhasesReader, type FeedPhasesReader } from './feed-phases.ts';
import { saveFeedPhases, seedPriceSources } from './price-sources.ts';

export interface EtherPriceWorkerOptions {
  readonly database: Database;
  readonly jobs: Jobs;
  /** The chains whose price sources this process keeps. */
  readonly chains: readonly { readonly chain: Chain; readonly pool: UpstreamPool }[];
  readonly logger: Logger;
  /** How often feeds are asked whether their aggregator has changed. Default 600,000 ms. */
  readonly refreshEveryMs?: number;
}

/** Keeps up with aggregators that change behind a feed's proxy: their answers are indexed already, only not known as ether's. */
export interface EtherPriceWorker {
  /** Writes what the chains' facts say, and begins to ask the proxies. Queues are closed by `jobs.close()`. */
  start(): Promise<void>;
}

const REFRESH_EVERY_MS = 600_000;
const REFRESH_MS_MAX = 60_000;

/** One queue a chain, `ether-price-<chain>`, for chains with a feed. */
export function createEtherPriceWorker(options: EtherPriceWorkerOptions): EtherPriceWorker {
  const { database, jobs, logger } = options;

  async function refresh(chain: Chain, reader: FeedPhasesReader, ending: AbortSignal): Promise<void> {
    const { feed } = chain.etherPrice;
    if (feed === null) return;
    const phases = await reader.read(AbortSignal.any([ending, AbortSignal.timeout(REFRESH_MS_MAX)]));
    if (phases === null) return;
    if (phases.length === 0) {
      logger.warn({ chain: chain.key, feed: feed.proxy }, 'There is no price feed at this address');
      return;
    }
    await saveFeedPhases(database, chain, feed.proxy, phases);
    logger.info(
      { chain: chain.key, feed: feed.proxy, aggregators: phases.length },
      'Aggregators of the price feed read',
    );
  }

  return {
    async start() {
      for (const { chain, pool } of options.chains) {
        await seedPriceSources(database, chain);
        if (chain.etherPrice.feed === null) continue;
        const reader = createFeedPhasesReader(pool, chain.etherPrice.feed);
        const queue = jobs.queue(`ether-price-${chain.key}`, { schema: z.object({}) });
        await queue.work(({ signal }) => refresh(chain, reader, signal), { concurrency: 1 });
        await queue.schedule('refresh', {}, { everyMs: options.refreshEveryMs ?? REFRESH_EVERY_MS });
      }
    },
  };
}
