import type { Chain } from '@chainstead/chains';
import type { Registry } from '@chainstead/core';
import type { Database } from '@chainstead/db';
import { type BlockWatcher, type WatchedBlock, type WatchNeeds, WatchNeedsChangedError } from '@chainstead/sync';
import { DELIVERIES_CHANNEL } from '../delivery/deliveries-channel.ts';
import { holdStreamsVersion } from '../records/streams-version.ts';
import { confirmMatches } from './confirm-matches.ts';
import { matchBlocks } from './match-blocks.ts';
import { createMatchMetrics } from './match-metrics.ts';
import { recordMatches } from './record-matches.ts';
import { removeMatches } from './remove-matches.ts';
import { createWatchedStreams } from './watched-streams.ts';

export interface StreamsWatcherOptions {
  readonly database: Database;
  /** Where matches are counted. @default nowhere */
  readonly metrics?: Registry;
}

/**
 * Matches every block that is followed with the streams of its chain, in the block's own transaction: the configuration that was
 * committed before it applies, held by its version. What matched, and the webhooks that tell of it, exist exactly when the block
 * does. One watcher serves all chains of a process.
 */
export function createStreamsWatcher({ database, metrics }: StreamsWatcherOptions): BlockWatcher {
  const watched = createWatchedStreams(database);
  const matched = metrics === undefined ? null : createMatchMetrics(metrics);
  return {
    needs: (chain) => watched.needs(chain),
    async committed(transaction, chain, blocks) {
      const streams = await watched.at(transaction, chain);
      requireWhole(chain, streams.needs, blocks);
      const matches = await matchBlocks(transaction, chain, streams, blocks);
      const made = await recordMatches(transaction, chain, matches);
      matched?.inc({ chain: chain.key }, matches.length);
      const height = blocks.at(-1)?.header.number ?? 0;
      const confirmed = await confirmMatches(transaction, chain, height - chain.confirmations);
      if (made + confirmed > 0) transaction.notify(DELIVERIES_CHANNEL);
    },
    async rolledBack(transaction, chain, ancestor) {
      // First, as every change of streams takes it first: nobody waits for the other's rows.
      await holdStreamsVersion(transaction);
      if ((await removeMatches(transaction, chain, ancestor)) > 0) transaction.notify(DELIVERIES_CHANNEL);
    },
  };
}

function requireWhole(chain: Chain, needs: WatchNeeds, blocks: readonly WatchedBlock[]): void {
  for (const { header, block, internalTransfers } of blocks) {
    const facts = { chain: chain.key, block: header.number };
    if (needs.transactions && block.transactions === null)
      throw new WatchNeedsChangedError({ ...facts, lacks: 'transactions' });
    if (needs.internalTransfers && internalTransfers === null)
      throw new WatchNeedsChangedError({ ...facts, lacks: 'internal transfers' });
  }
}
