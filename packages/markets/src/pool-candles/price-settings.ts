import { createHash } from 'node:crypto';
import { type Chain, DEFAULT_HEARTBEAT_SECONDS, feedsOf } from '@chainstead/chains';
import { hasEtherQuotes } from '@chainstead/price-feeds';
import { anchorsOf } from '../anchors/anchors-of-chain.ts';

/** Raise it if the same swaps and prices produce other candles. */
const VERSION = 2;

/** Returns a hash of all settings that dollar values of swaps follow from. Stored candles of other settings are invalid. */
export function priceSettingsOf(chain: Chain): string {
  const settings = [VERSION, anchorsOf(chain), chain.tokenFeeds, chain.etherPrice, chain.native];
  return createHash('sha256').update(JSON.stringify(settings)).digest('hex').slice(0, 32);
}

/** The dataset that prices of anchors come from. */
export interface PriceDataset {
  readonly name: 'feed-answers' | 'pool-prices';
  /** Prices at a time follow from no earlier answer than this. Seconds; 0: the newest price counts, however old. */
  readonly heartbeatSeconds: number;
}

/** Returns the price dataset of a chain; null: its anchors have fixed prices or none. */
export function priceDatasetOf(chain: Chain): PriceDataset | null {
  const heartbeats = feedsOf(chain).map(({ heartbeatSeconds = DEFAULT_HEARTBEAT_SECONDS }) => heartbeatSeconds);
  if (heartbeats.length > 0) return { name: 'feed-answers', heartbeatSeconds: Math.max(...heartbeats) };
  return hasEtherQuotes(chain) ? { name: 'pool-prices', heartbeatSeconds: 0 } : null;
}
