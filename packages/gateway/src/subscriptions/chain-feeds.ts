import type { Clock, Logger } from '@chainstead/core';
import type { GatewayChain } from '../call.ts';
import type { HeadFloor } from '../heads/head-floor.ts';
import { type ChainFeed, createChainFeed } from './chain-feed.ts';
import { createPendingFeed, type PendingFeed } from './pending-feed.ts';

/** The feeds of one chain. */
export interface ChainSources {
  readonly blocks: ChainFeed;
  readonly pending: PendingFeed;
}

/** The feeds of all chains, created at first use. */
export interface ChainFeeds {
  of(chain: GatewayChain): ChainSources;
  close(): void;
}

export function createChainFeeds(options: {
  readonly headFloor: (chain: GatewayChain) => HeadFloor;
  readonly logger: Logger;
  readonly clock: Clock;
}): ChainFeeds {
  const { headFloor, logger, clock } = options;
  const known = new Map<GatewayChain, ChainSources>();
  return {
    of(chain) {
      const made = known.get(chain);
      if (made !== undefined) return made;
      const sources = {
        blocks: createChainFeed({ chain, floor: headFloor(chain), logger, clock }),
        pending: createPendingFeed({ chain, logger, clock }),
      };
      known.set(chain, sources);
      return sources;
    },
    close() {
      for (const { blocks, pending } of known.values()) {
        blocks.close();
        pending.close();
      }
    },
  };
}
