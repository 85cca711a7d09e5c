import type { Logger } from '@chainstead/core';
import type { GatewayChain } from '../call.ts';
import type { ChainFeeds } from '../subscriptions/chain-feeds.ts';
import { type LogCriteria, readLogCriteria } from '../subscriptions/log-criteria.ts';
import { createFeedLease, type FeedLease } from './feed-lease.ts';
import { changesSince, type FilterChanges, toldAfter } from './filter-changes.ts';
import { BranchChangedError, createFilterReader, type FilterReader } from './filter-reader.ts';
import type { FilterStore, StoredFilter, ToldBlock } from './filter-store.ts';
import { pollPendingFilter } from './pending-filters.ts';

/** What filters are told of, from the feeds of their chains. */
export interface FilterPolls {
  /** Has the chain's blocks followed from now on, for a while. */
  hold(chain: GatewayChain, options: { readonly wantsLogs: boolean }): Promise<void>;
  /** The blocks that a client knows who asks for a filter now: it may have read the newest one from an upstream. */
  knownBlocks(chain: GatewayChain): Promise<readonly ToldBlock[]>;
  /** What has happened since the last poll, as JSON text; null where it must begin anew. */
  poll(chain: GatewayChain, filter: StoredFilter): Promise<string | null>;
  close(): void;
}

/** Blocks that one poll tells; what is left comes with the next ones. */
const BLOCKS_AT_ONCE = 200;

export function createFilterPolls(options: {
  readonly store: FilterStore;
  readonly feeds: ChainFeeds;
  readonly logger: Logger;
}): FilterPolls {
  const { store, feeds, logger } = options;
  const leases = new Map<string, FeedLease>();
  const closing = new AbortController();

  function hold(chain: GatewayChain, { wantsLogs }: { readonly wantsLogs: boolean }): Promise<void> {
    const name = `${chain.slug}/${wantsLogs}`;
    const lease =
      leases.get(name) ??
      createFeedLease(() =>
        feeds.of(chain).blocks.watch({ wantsLogs, added: () => undefined, removed: () => undefined }),
      );
    leases.set(name, lease);
    return lease.hold();
  }

  async function pollBlocks(chain: GatewayChain, filter: StoredFilter): Promise<string | null> {
    await hold(chain, { wantsLogs: filter.kind === 'logs' });
    await feeds.of(chain).blocks.catchUp();
    const reader = createFilterReader(chain, { feed: feeds.of(chain).blocks, logger, signal: closing.signal });
    const changes = changesSince(filter.told, await reader.blocksSince(filter.told), BLOCKS_AT_ONCE);
    if (changes === null || (changes.added.length === 0 && changes.removed.length === 0)) {
      await store.touch(filter.id);
      return '[]';
    }
    const texts = await textsOf(filter, changes, reader);
    return (await store.advance(filter, { subject: filter.subject, told: changes.told }))
      ? `[${texts.join(',')}]`
      : null;
  }

  return {
    hold,
    async knownBlocks(chain) {
      const feed = feeds.of(chain).blocks;
      await feed.catchUp();
      return toldAfter([], feed.blocks);
    },
    async poll(chain, filter) {
      try {
        return await (filter.kind === 'pending' ? pollPendingFilter(chain, filter, store) : pollBlocks(chain, filter));
      } catch (error) {
        if (error instanceof BranchChangedError) return null;
        throw error;
      }
    },
    close() {
      closing.abort();
      for (const lease of leases.values()) lease.close();
    },
  };
}

async function textsOf(
  { kind, subject }: StoredFilter,
  { removed, added }: FilterChanges,
  reader: FilterReader,
): Promise<readonly string[]> {
  if (kind === 'blocks') return added.map(({ hash }) => `"${hash}"`);
  const criteria = criteriaOf(subject);
  return [...(await reader.removedLogs(removed, criteria)), ...(await reader.addedLogs(added, criteria))];
}

/** Of a filter that was accepted. */
function criteriaOf(subject: unknown): LogCriteria {
  const criteria = readLogCriteria(subject);
  if (typeof criteria === 'string') throw new TypeError(`A stored filter can't be read: ${criteria}`);
  return criteria;
}
