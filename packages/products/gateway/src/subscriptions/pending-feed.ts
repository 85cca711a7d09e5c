import { type Clock, errorText, getOrCompute, type Logger, sleepUnlessAborted } from '@chainstead/core';
import { RequestAbortedError } from '@chainstead/rpc';
import type { GatewayChain } from '../call.ts';
import type { HeadFloor } from '../heads/head-floor.ts';
import { type ChainFeed, createChainFeed } from './chain-feed.ts';

interface PendingListener {
  readonly isFull: boolean;
  pending(transactions: PendingTexts): void;
}

interface PendingTexts {
  /** JSON: hashes, or whole transactions. */
  readonly texts: readonly string[];
  readonly bytes: number;
}

/** From one upstream, read once for all listeners, and not without listeners. */
interface PendingFeed {
  /** @returns stops it. @throws RpcCallError if no upstream supports it, UpstreamsExhaustedError */
  watch(listener: PendingListener): Promise<() => void>;
  close(): void;
}

interface UpstreamFilter {
  readonly id: string;
  readonly upstream: string;
}

const RETRY_MS = 1_000;
const POLL_MIN_MS = 200;
const POLL_MAX_MS = 2_000;
const LOOKUPS_AT_ONCE = 20;

// biome-ignore lint/complexity/noExcessiveLinesPerFunction: who listens and the one subscription upstream are one state.
function createPendingFeed(options: {
  readonly chain: GatewayChain;
  readonly logger: Logger;
  readonly clock: Clock;
}): PendingFeed {
  const { chain, logger, clock } = options;
  const { pool } = chain;
  const everyMs = Math.min(POLL_MAX_MS, Math.max(POLL_MIN_MS, chain.chain.pollIntervalMs));
  const listeners = new Set<PendingListener>();
  let users = 0;
  let running: { readonly ending: AbortController; readonly started: Promise<void> } | null = null;

  async function createFilter(signal: AbortSignal): Promise<UpstreamFilter> {
    const { value, upstream } = await pool.request('eth_newPendingTransactionFilter', [], { signal });
    return { id: String(value), upstream };
  }

  async function readChanges(filter: UpstreamFilter, signal: AbortSignal): Promise<readonly string[]> {
    const { value } = await pool.request('eth_getFilterChanges', [filter.id], { signal, only: filter.upstream });
    return Array.isArray(value) ? value.filter((hash): hash is string => typeof hash === 'string') : [];
  }

  async function report(hashes: readonly string[], upstream: string, signal: AbortSignal): Promise<void> {
    const texts = hashes.map((hash) => `"${hash}"`);
    reportEach(false, texts);
    if (!listeners.values().some(({ isFull }) => isFull)) return;
    for (let first = 0; first < hashes.length; first += LOOKUPS_AT_ONCE) {
      const some = hashes.slice(first, first + LOOKUPS_AT_ONCE);
      const options = { signal, only: upstream };
      const read = await Promise.all(
        some.map((hash) => pool.request('eth_getTransactionByHash', [hash], options)),
      );
      const transactions = read.flatMap(({ value }) => (value === null ? [] : [JSON.stringify(value)]));
      reportEach(true, transactions);
    }
  }

  function reportEach(isFull: boolean, texts: readonly string[]): void {
    if (texts.length === 0) return;
    const transactions = { texts, bytes: texts.reduce((sum, { length }) => sum + length, 0) };
    for (const listener of [...listeners]) if (listener.isFull === isFull) listener.pending(transactions);
  }

  async function run(first: UpstreamFilter, signal: AbortSignal): Promise<void> {
    let filter: UpstreamFilter | null = first;
    while (!signal.aborted) {
      await sleepUnlessAborted(clock, filter === null ? RETRY_MS : everyMs, signal);
      if (signal.aborted) break;
      try {
        filter ??= await createFilter(signal);
        await report(await readChanges(filter, signal), filter.upstream, signal);
      } catch (error) {
        // The upstream dropped the filter or is down: a new one covers transactions from now on.
        logger.debug({ chain: chain.slug, error: errorText(error) }, 'Waiting transactions not read');
        filter = null;
      }
    }
    if (filter !== null) await forget(filter);
  }

  async function forget({ id, upstream }: UpstreamFilter): Promise<void> {
    try {
      await pool.request('eth_uninstallFilter', [id], { only: upstream });
    } catch (error) {
      logger.debug({ chain: chain.slug, error: errorText(error) }, 'Filter of an upstream not removed');
    }
  }

  function start(): NonNullable<typeof running> {
    const ending = new AbortController();
    const { signal } = ending;
    return { ending, started: createFilter(signal).then((filter) => void run(filter, signal)) };
  }

  function leave(): void {
    users -= 1;
    if (users === 0) stop();
  }

  function stop(): void {
    running?.ending.abort(new RequestAbortedError('eth_getFilterChanges'));
    running = null;
  }

  return {
    async watch(listener) {
      users += 1;
      running ??= start();
      const { started } = running;
      try {
        await started;
      } catch (error) {
        leave();
        throw error;
      }
      listeners.add(listener);
      return () => {
        if (listeners.delete(listener)) leave();
      };
    },
    close() {
      listeners.clear();
      stop();
    },
  };
}

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
