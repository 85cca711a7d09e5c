import { type Clock, errorText, type Logger, sleepUnlessAborted, systemClock } from '@chainstead/core';
import { type Head, RequestAbortedError } from '@chainstead/rpc';
import type { PinnedHead } from '../call.ts';
import { type HeadStore, type StoredHead, shareRuns } from './head-store.ts';
import { createPoolFollower, type PoolFollowerOptions } from './pool-follower.ts';

/**
 * The meaning of `latest` and `finalized`, shared by all API processes: a client with block N never
 * gets an older one. Requests read the published head after they arrive, responses use it only.
 * The floor does not fall on a reorg: the pool retries calls pinned to a number until an upstream
 * reaches it. Delete the row of `gateway_heads` if a development chain restarts under its old id.
 */
export interface HeadFloor {
  /** For a request that arrived before the call. @throws UpstreamsExhaustedError */
  read(): Promise<PinnedHead>;
  /** Await it before sending a block that may be above the floor. Never rejects. */
  reveal(block: number): Promise<void>;
  readonly latest: number | null;
  /** Inclusive: finalized, or deeper than the largest reorg. */
  readonly finalBlock: number | null;
  readonly generation: number;
  /** At each use of `latest`, `finalBlock` or `generation`: unused chains are not followed. */
  use(): void;
  /** Afterwards `newest` is no older than in any response so far. Never rejects. */
  refresh(): Promise<void>;
  readonly newest: Head | null;
  /** Reports newest blocks of this process' pool once they are published. @returns stops it */
  watch(listener: (head: Head) => void): () => void;
  close(): void;
}

export interface HeadFloorOptions {
  readonly chain: { readonly id: number; readonly key: string; readonly reorgDepthMax: number };
  readonly pool: PoolFollowerOptions['pool'];
  /** Null: its own head (one upstream, whose tags are forwarded unchanged). */
  readonly store: HeadStore | null;
  readonly logger: Logger;
  readonly clock?: Clock;
  /** Milliseconds until calls continue without the store. @default 1000 */
  readonly storeTimeoutMs?: number;
  /** Milliseconds until an unused chain is no longer followed. @default 60000 */
  readonly idleMs?: number;
}

const RETRY_MS = 1_000;
const LATE: unique symbol = Symbol('late');

// biome-ignore lint/complexity/noExcessiveLinesPerFunction: the floor, its followers and its idle end are one state.
export function createHeadFloor(options: HeadFloorOptions): HeadFloor {
  const { chain, pool, store, logger, clock = systemClock, storeTimeoutMs = 1_000, idleMs = 60_000 } = options;
  const closing = new AbortController();
  let floor: StoredHead | null = null;
  let stored: StoredHead | null = null;
  let isStoreAway = false;

  const watchers = new Set<(head: Head) => void>();
  let reported: Head | null = null;
  const onChange = (): void => void exchange().then(report);
  const isWatched = (): boolean => watchers.size > 0;
  const follower = createPoolFollower({ chain, pool, clock, logger, idleMs, onChange, isWatched });

  function report(): void {
    const { head } = follower;
    if (head === null || head === reported) return;
    reported = head;
    for (const watcher of watchers) watcher(head);
  }

  function own(): StoredHead | null {
    const { head, finalized } = follower;
    return head === null ? floor : higher(floor, { head: head.number, finalized });
  }

  async function exchangeWith(shared: HeadStore): Promise<void> {
    const mine = own();
    if (mine !== null && isHigher(mine, stored)) stored = await inTime(shared.publish(chain.id, mine));
    else {
      const read = await inTime(shared.read(chain.id));
      // Lower than a published value: the store lost its data.
      stored = mine !== null && isHigher(mine, read) ? await inTime(shared.publish(chain.id, mine)) : read;
    }
    // Invariant: GATEWAY-HEAD-FLOOR
    if (stored !== null) floor = higher(floor, stored);
  }

  const exchange = shareRuns(async () => {
    if (closing.signal.aborted) return;
    if (store !== null && !isStoreAway) {
      try {
        await exchangeWith(store);
        return;
      } catch (error) {
        isStoreAway = true;
        logger.warn(
          { chain: chain.key, error: errorText(error) },
          'Shared head is unreachable: this process continues with its own head',
        );
        void comeBack(store);
      }
    }
    floor = own();
  });

  async function comeBack(shared: HeadStore): Promise<void> {
    while (!closing.signal.aborted) {
      await sleepUnlessAborted(clock, RETRY_MS, closing.signal);
      try {
        await exchangeWith(shared);
        isStoreAway = false;
        logger.info({ chain: chain.key }, 'Shared head reachable again');
        return;
      } catch (error) {
        logger.debug({ chain: chain.key, error: errorText(error) }, 'Shared head still not reachable');
      }
    }
  }

  async function inTime<T>(work: Promise<T>): Promise<T> {
    const timer = new AbortController();
    const late = sleepUnlessAborted(clock, storeTimeoutMs, timer.signal).then((): typeof LATE => LATE);
    try {
      const done = await Promise.race([work, late]);
      if (done === LATE) throw new RequestAbortedError('gateway_heads');
      return done;
    } finally {
      timer.abort();
    }
  }

  async function refreshOwn(): Promise<void> {
    try {
      await follower.refresh();
    } catch (error) {
      logger.debug({ chain: chain.key, error: errorText(error) }, 'Head not read');
    }
    await exchange();
  }

  return {
    async read() {
      follower.use();
      const failure = await follower.ready().catch((error: unknown) => ({ error }));
      await exchange();
      if (floor === null) throw failure?.error ?? new RequestAbortedError('eth_blockNumber');
      return { latest: floor.head, finalized: floor.finalized };
    },
    async reveal(block) {
      if (store !== null && (floor === null || block > floor.head)) await refreshOwn();
    },
    get latest() {
      return own()?.head ?? null;
    },
    get finalBlock() {
      const current = own();
      return current === null ? null : (current.finalized ?? current.head - chain.reorgDepthMax);
    },
    get generation() {
      return follower.generation;
    },
    use: follower.use,
    async refresh() {
      await exchange();
      const { head } = follower;
      const isBehind = store === null || head === null || (floor !== null && head.number < floor.head);
      if (!isBehind) return;
      await refreshOwn();
      report();
    },
    get newest() {
      return follower.head;
    },
    watch(listener) {
      watchers.add(listener);
      follower.use();
      return () => watchers.delete(listener);
    },
    close() {
      closing.abort();
      follower.close();
    },
  };
}

function higher(a: StoredHead | null, b: StoredHead): StoredHead {
  if (a === null) return b;
  const finalized = a.finalized === null ? b.finalized : Math.max(a.finalized, b.finalized ?? 0);
  return { head: Math.max(a.head, b.head), finalized };
}

function isHigher(a: StoredHead, b: StoredHead | null): boolean {
  return b === null || a.head > b.head || (a.finalized ?? -1) > (b.finalized ?? -1);
}
