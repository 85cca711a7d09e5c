import type { Logger, Registry } from '@chainstead/core';
import type { GatewayChain, Outcome } from '../call.ts';
import { createGatewayMetrics } from '../gateway-metrics.ts';
import { invalidParams, type RpcErrorObject, unavailable } from '../protocol/rpc-errors.ts';
import { readLogCriteria } from '../subscriptions/log-criteria.ts';
import type { ChainFeeds } from '../subscriptions/pending-feed.ts';
import { createFilterPolls } from './filter-polls.ts';
import {
  type FilterKind,
  type FilterOwner,
  type FilterStore,
  newUpstreamFilter,
  removePendingFilter,
} from './filter-store.ts';

export interface FilterContext {
  readonly chain: GatewayChain;
  readonly keyId: string;
}

export type Filters = ReturnType<typeof createFilters>;

export const FILTER_NOT_FOUND: RpcErrorObject = { code: -32_000, message: 'filter not found' };
const TOO_MANY: RpcErrorObject = { code: -32_005, message: 'The key has too many filters: uninstall some' };

const TRIES = 5;
const TRY_AGAIN_MS = 100;

/** Stored for every process. Rejects as calls to upstreams and the database do. */
export function createFilters(options: {
  readonly store: FilterStore;
  readonly feeds: ChainFeeds;
  readonly logger: Logger;
  readonly metrics: Registry;
  /** Per poll; one block may exceed it. @default 16,000,000 */
  readonly charactersAtOnce?: number | undefined;
}) {
  const { store, logger } = options;
  const metrics = createGatewayMetrics(options.metrics);
  const polls = createFilterPolls(options);

  async function add(context: FilterContext, kind: FilterKind, subject: unknown): Promise<Outcome> {
    const reported = kind === 'pending' ? [] : await polls.knownBlocks(context.chain);
    const id = await store.add(ownerOf(context), { kind, subject, reported });
    if (id === null) return { ok: false, error: TOO_MANY };
    metrics.filters.inc({ chain: context.chain.slug, kind });
    return answered(JSON.stringify(id));
  }

  return {
    async newLogFilter(context: FilterContext, given: unknown): Promise<Outcome> {
      const criteria = readLogCriteria(given);
      if (typeof criteria === 'string')
        return { ok: false, error: invalidParams(`invalid argument 0: ${criteria}`) };
      await polls.hold(context.chain, { wantsLogs: true });
      return add(context, 'logs', given);
    },
    async newBlockFilter(context: FilterContext): Promise<Outcome> {
      await polls.hold(context.chain, { wantsLogs: false });
      return add(context, 'blocks', {});
    },
    newPendingFilter: async (context: FilterContext): Promise<Outcome> =>
      add(context, 'pending', await newUpstreamFilter(context.chain.pool)),
    async changes(context: FilterContext, id: string): Promise<Outcome> {
      for (let tries = 0; tries < TRIES; tries += 1) {
        if (tries > 0) await new Promise((resolve) => setTimeout(resolve, TRY_AGAIN_MS));
        const filter = await store.find(ownerOf(context), id);
        if (filter === null) return { ok: false, error: FILTER_NOT_FOUND };
        const text = await polls.poll(context.chain, filter);
        if (text !== null) return answered(text);
      }
      return { ok: false, error: unavailable(context.chain.slug) };
    },
    async logFilter(context: FilterContext, id: string): Promise<unknown | null> {
      const filter = await store.find(ownerOf(context), id);
      if (filter === null || filter.kind !== 'logs') return null;
      await store.touch(id);
      return filter.subject;
    },
    async uninstall(context: FilterContext, id: string): Promise<Outcome> {
      const filter = await store.remove(ownerOf(context), id);
      if (filter?.kind === 'pending') await removePendingFilter(context.chain, filter, logger);
      return answered(String(filter !== null));
    },
    close: polls.close,
  };
}

function ownerOf({ chain, keyId }: FilterContext): FilterOwner {
  return { keyId, chainId: chain.chain.id };
}

function answered(text: string): Outcome {
  return { ok: true, result: Buffer.from(text), cached: false };
}
