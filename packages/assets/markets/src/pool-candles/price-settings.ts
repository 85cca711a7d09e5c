import { createHash } from 'node:crypto';
import type { Chain } from '@chainstead/chains';
import { DEFAULT_HEARTBEAT_SECONDS, feedsOf } from '@chainstead/chains/price-feeds';
import { hasEtherQuotes } from '@chainstead/tokens/price-feeds/quotes';
import { anchorsOf } from '../anchors/anchors-of-chain.ts';

/** Raise it if equal swaps and prices produce other candles. */
const VERSION = 2;

export function priceSettingsOf(chain: Chain): string {
  const settings = [VERSION, anchorsOf(chain), chain.tokenFeeds, chain.etherPrice, chain.native];
  return createHash('sha256').update(JSON.stringify(settings)).digest('hex').slice(0, 32);
}

export interface PriceDataset {
  readonly name: 'feed-answers' | 'pool-prices';
  /** Prices follow from no older answer. 0: the newest price counts, however old. */
  readonly heartbeatSeconds: number;
}

export function priceDatasetOf(chain: Chain): PriceDataset | null {
  const heartbeats = feedsOf(chain).map(({ heartbeatSeconds = DEFAULT_HEARTBEAT_SECONDS }) => heartbeatSeconds);
  if (heartbeats.length > 0) return { name: 'feed-answers', heartbeatSeconds: Math.max(...heartbeats) };
  return hasEtherQuotes(chain) ? { name: 'pool-prices', heartbeatSeconds: 0 } : null;
}
