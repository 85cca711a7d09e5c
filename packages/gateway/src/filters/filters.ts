import { errorText, type Logger, type Registry } from '@chainstead/core';
import { RpcCallError } from '@chainstead/rpc';
import type { GatewayChain, Outcome, RpcErrorObject } from '../call.ts';
import { invalidParams, unavailable } from '../protocol/rpc-errors.ts';
import type { ChainFeeds } from '../subscriptions/chain-feeds.ts';
import { type LogCriteria, readLogCriteria } from '../subscriptions/log-criteria.ts';
import { createFeedLease, type FeedLease } from './feed-lease.ts';
import { changesSince, type FilterChanges, toldAfter } from './filter-changes.ts';
import { createFilterMetrics } from './filter-metrics.ts';
import { BranchChangedError, createFilterReader, type FilterReader } from './filter-reader.ts';
import type { FilterKind, FilterOwner, FilterStore, StoredFilter, ToldBlock } from './filter-store.ts';

/** Who asks for a filter, and on which chain. */
export interface FilterContext {
  readonly chain: GatewayChain;
  readonly keyId: string;
}

/** Filters as nodes have them, kept where every process finds them. All reject as calls to upstreams and the database do. */
export interface Filters {
  newLogFilter(context: FilterContext, filter: unknown): Promise<Outcome>;
  newBlockFilter(context: FilterContext): Promise<Outcome>;
  newPendingFilter(context: FilterContext): Promise<Outcome>;
  /** What has happened since the last call. */
  changes(context: FilterContext, id: string): Promise<Outcome>;
  /** The log filter as it was given, for eth_getLogs. */
  logFilter(context: FilterContext, id: string): Promise<unknown | null>;
  uninstall(context: FilterContext, id: string): Promise<Outcome>;
  close(): void;
}

/** geth's. */
export const FILTER_NOT_FOUND: RpcErrorObject = { code: -32_000, message: 'filter not found' };
const TOO_MANY: RpcErrorObject = { code: -32_005, message: 'The key has too many filters: uninstall some' };

/** Blocks that one poll tells; what is left comes with the next ones. */
const BLOCKS_AT_ONCE = 200;
/** How often a poll begins anew because the chain or the filter changed meanwhile. */
const TRIES = 5;
const TRY_AGAIN_MS = 100;

interface UpstreamFilter {
  readonly upstream: string;
  readonly id: string;
}

// biome-ignore lint/complexity/noExcessiveLinesPerFunction: each method of filters reads and moves the same stored state.
export function createFilters(options: {
  readonly store: FilterStore;
  readonly feeds: ChainFeeds;
  readonly logger: Logger;
  readonly metrics: Registry;
}): Filters {
  const { store, feeds, logger } = options;
  const metrics = createFilterMetrics(options.metrics);
  const leases = new Map<string, FeedLease>();
  const closing = new AbortController();

  function hold(chain: GatewayChain, wantsLogs: boolean): Promise<void> {
    const name = `${chain.slug}/${wantsLogs}`;
    const lease =
      leases.get(name) ??
      createFeedLease(() =>
        feeds.of(chain).blocks.watch({ wantsLogs, added: () => undefined, removed: () => undefined }),
      );
    leases.set(name, lease);
    return lease.hold();
  }

  function readerOf(chain: GatewayChain): FilterReader {
    return createFilterReader(chain, { feed: feeds.of(chain).blocks, logger, signal: closing.signal });
  }

  /** The blocks that a client knows who asks for a filter now: it may have read the newest one from an upstream. */
  async function knownBlocks({ chain }: FilterContext): Promise<readonly ToldBlock[]> {
    const feed = feeds.of(chain).blocks;
    await feed.catchUp();
    return toldAfter([], feed.blocks);
  }

  async function add(context: FilterContext, kind: FilterKind, subject: unknown): Promise<Outcome> {
    const told = kind === 'pending' ? [] : await knownBlocks(context);
    const id = await store.add(ownerOf(context), { kind, subject, told });
    if (id === null) return { ok: false, error: TOO_MANY };
    metrics.made(context.chain.slug, kind);
    return answered(JSON.stringify(id));
  }

  async function poll(chain: GatewayChain, filter: StoredFilter): Promise<string | null> {
    await hold(chain, filter.kind === 'logs');
    await feeds.of(chain).blocks.catchUp();
    const reader = readerOf(chain);
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

  async function pollPending({ pool }: GatewayChain, filter: StoredFilter): Promise<string | null> {
    const { upstream, id } = filter.subject as UpstreamFilter;
    try {
      const { value } = await pool.request('eth_getFilterChanges', [id], { only: upstream });
      await store.touch(filter.id);
      return JSON.stringify(value);
    } catch (error) {
      if (!(error instanceof RpcCallError)) throw error;
    }
    // The upstream forgot it: what comes from now on is told.
    const subject = await newUpstreamFilter(pool);
    return (await store.advance(filter, { subject, told: [] })) ? '[]' : null;
  }

  async function forget({ pool, slug }: GatewayChain, id: string, upstream: string): Promise<void> {
    try {
      await pool.request('eth_uninstallFilter', [id], { only: upstream });
    } catch (error) {
      logger.debug({ chain: slug, error: errorText(error) }, 'Filter of an upstream not removed');
    }
  }

  /** A poll; null where it must begin anew. */
  async function tryPoll(chain: GatewayChain, filter: StoredFilter): Promise<string | null> {
    try {
      return await (filter.kind === 'pending' ? pollPending(chain, filter) : poll(chain, filter));
    } catch (error) {
      if (error instanceof BranchChangedError) return null;
      throw error;
    }
  }

  return {
    async newLogFilter(context, given) {
      const criteria = readLogCriteria(given);
      if (typeof criteria === 'string') return { ok: false, error: invalidParams(`invalid argument 0: ${criteria}`) };
      await hold(context.chain, true);
      return add(context, 'logs', given);
    },
    async newBlockFilter(context) {
      await hold(context.chain, false);
      return add(context, 'blocks', {});
    },
    newPendingFilter: async (context) => add(context, 'pending', await newUpstreamFilter(context.chain.pool)),
    async changes(context, id) {
      for (let tries = 0; tries < TRIES; tries += 1) {
        if (tries > 0) await new Promise((resolve) => setTimeout(resolve, TRY_AGAIN_MS));
        const filter = await store.find(ownerOf(context), id);
        if (filter === null) return { ok: false, error: FILTER_NOT_FOUND };
        const text = await tryPoll(context.chain, filter);
        if (text !== null) return answered(text);
      }
      return { ok: false, error: unavailable(context.chain.slug) };
    },
    async logFilter(context, id) {
      const filter = await store.find(ownerOf(context), id);
      if (filter === null || filter.kind !== 'logs') return null;
      await store.touch(id);
      return filter.subject;
    },
    async uninstall(context, id) {
      const filter = await store.remove(ownerOf(context), id);
      if (filter?.kind === 'pending') {
        const { upstream, id: theirs } = filter.subject as UpstreamFilter;
        await forget(context.chain, theirs, upstream);
      }
      return answered(String(filter !== null));
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

async function newUpstreamFilter(pool: GatewayChain['pool']): Promise<UpstreamFilter> {
  const { value, upstream } = await pool.request('eth_newPendingTransactionFilter', []);
  return { upstream, id: String(value) };
}

function ownerOf({ chain, keyId }: FilterContext): FilterOwner {
  return { keyId, chainId: chain.chain.id };
}

function answered(text: string): Outcome {
  return { ok: true, result: Buffer.from(text), cached: false };
}
