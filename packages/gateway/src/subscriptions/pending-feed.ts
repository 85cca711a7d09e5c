import { type Clock, errorText, type Logger, sleepUnlessAborted } from '@chainstead/core';
import { RequestAbortedError } from '@chainstead/rpc';
import type { GatewayChain } from '../call.ts';

/** Who wants to know of transactions that wait for a block. */
export interface PendingListener {
  /** Whole transactions instead of their hashes. */
  readonly isFull: boolean;
  pending(transactions: PendingTexts): void;
}

/** Transactions that were heard of together. */
export interface PendingTexts {
  /** JSON texts: hashes, or whole transactions. */
  readonly texts: readonly string[];
  /** Of all texts. */
  readonly bytes: number;
}

/** Transactions that one upstream hears of, read once for all listeners. Nothing is read while there are none. */
export interface PendingFeed {
  /**
   * Tells the listener of every transaction that arrives from now on. @returns what ends it
   * @throws RpcCallError where no upstream tells of them, UpstreamsExhaustedError
   */
  watch(listener: PendingListener): Promise<() => void>;
  close(): void;
}

/** An upstream's own filter. */
interface UpstreamFilter {
  readonly id: string;
  readonly upstream: string;
}

const RETRY_MS = 1_000;
const POLL_MIN_MS = 200;
const POLL_MAX_MS = 2_000;
/** Transactions that are looked up at once for listeners of whole ones. */
const LOOKUPS_AT_ONCE = 20;

// biome-ignore lint/complexity/noExcessiveLinesPerFunction: who listens and the one subscription upstream are one state.
export function createPendingFeed(options: {
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
    const given = { signal, only: filter.upstream };
    const { value } = await pool.request('eth_getFilterChanges', [filter.id], given);
    return Array.isArray(value) ? value.filter((hash): hash is string => typeof hash === 'string') : [];
  }

  async function tell(hashes: readonly string[], upstream: string, signal: AbortSignal): Promise<void> {
    tellEach(
      false,
      hashes.map((hash) => `"${hash}"`),
    );
    if (![...listeners].some(({ isFull }) => isFull)) return;
    for (let first = 0; first < hashes.length; first += LOOKUPS_AT_ONCE) {
      const some = hashes.slice(first, first + LOOKUPS_AT_ONCE);
      const found = await Promise.all(
        some.map((hash) => pool.request('eth_getTransactionByHash', [hash], { signal, only: upstream })),
      );
      tellEach(
        true,
        found.flatMap(({ value }) => (value === null ? [] : [JSON.stringify(value)])),
      );
    }
  }

  /** @param isFull which listeners are told */
  function tellEach(isFull: boolean, texts: readonly string[]): void {
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
        await tell(await readChanges(filter, signal), filter.upstream, signal);
      } catch (error) {
        // The upstream forgot the filter, or is down: another one is asked for what comes from now on.
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
