import { type Clock, getOrCompute, type Logger } from '@chainstead/core';
import type { GatewayChain } from '../call.ts';
import type { HeadFloor } from '../heads/head-floor.ts';
import { type ChainFeed, createChainFeed } from './chain-feed.ts';
import { createPendingFeed, type PendingFeed } from './pending-feed.ts';

export interface ChainSources {
  readonly blocks: ChainFeed;
  readonly pending: PendingFeed;
}

export type ChainFeeds = ReturnType<typeof createChainFeeds>;

export function createChainFeeds({
  headFloor,
  ...services
}: {
  readonly headFloor: (chain: GatewayChain) => HeadFloor;
  readonly logger: Logger;
  readonly clock: Clock;
}) {
  const feeds = new Map<GatewayChain, ChainSources>();
  return {
    of: (chain: GatewayChain): ChainSources =>
      getOrCompute(feeds, chain, () => ({
        blocks: createChainFeed({ ...services, chain, floor: headFloor(chain) }),
        pending: createPendingFeed({ ...services, chain }),
      })),
    close(): void {
      for (const { blocks, pending } of feeds.values()) {
        blocks.close();
        pending.close();
      }
    },
  };
}
