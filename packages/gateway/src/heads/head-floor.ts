import { type Clock, errorText, type Logger, sleepUnlessAborted, systemClock } from '@chainstead/core';
import { type Head, RequestAbortedError } from '@chainstead/rpc';
import type { PinnedHead } from '../call.ts';
import type { HeadStore, StoredHead } from './head-store.ts';
import { createPoolFollower, type PoolFollowerOptions } from './pool-follower.ts';
import { shareRuns } from './share-runs.ts';

/**
 * What `latest` and `finalized` mean on a chain, for all API processes together.
 *
 * A head is used in an answer only after it was published, and every request reads what is published after it arrived. So
 * whoever got an answer of block N gets none from before N afterwards, whichever process and upstream answer.
 *
 * The floor does not fall when the chain goes back. A client then sees: the same number with another hash, where a block
 * was replaced by another; the new branch's blocks, once an upstream has that number, where a shorter branch won for a
 * moment. Until then, calls pinned to the number are retried by the pool, and answered with null or the node's error. A
 * chain that was begun anew under its old id (a development chain with several upstreams) needs its row of
 * `gateway_heads` removed.
 */
export interface HeadFloor {
  /** What the tags mean for a request that arrived before the call. @throws UpstreamsExhaustedError while no head is known at all */
  read(): Promise<PinnedHead>;
  /**
   * To be awaited before an answer leaves that tells of a block which may be above the floor (a fresh receipt): raises the
   * floor to the pool's newest head then, so that `latest` is never older than what the client has seen. A block that the
   * pool can't confirm changes nothing. Never rejects.
   */
  reveal(block: number): Promise<void>;
  /** As known now, without asking; null before the first head. */
  readonly latest: number | null;
  /** Blocks up to this one can't change any more: finalized, or deeper than any reorganisation that is rolled back. */
  readonly finalBlock: number | null;
  /** Another number whenever the chain's newest block is another one. */
  readonly generation: number;
  /** To be called with every use of `latest`, `finalBlock` and `generation`: unused chains are not followed. */
  use(): void;
  /** Makes `newest` no older than what any answer so far has told, and tells it to those who watch. Never rejects. */
  refresh(): Promise<void>;
  /** The newest block that this process' own pool has given; null before the first. */
  readonly newest: Head | null;
  /**
   * Tells each block that becomes the newest of this process' own pool, once no answer of any process is older. While
   * somebody watches, the chain is followed. @returns what ends it
   */
  watch(listener: (head: Head) => void): () => void;
  close(): void;
}

/** What a floor is made of. */
export interface HeadFloorOptions {
  readonly chain: { readonly id: number; readonly key: string; readonly reorgDepthMax: number };
  readonly pool: PoolFollowerOptions['pool'];
  /** Null: the head is this process' own (a chain with one upstream, whose tags pass as they are). */
  readonly store: HeadStore | null;
  readonly logger: Logger;
  readonly clock?: Clock;
  /** Milliseconds that the store may take before answers go on without it. @default 1000 */
  readonly storeTimeoutMs?: number;
  /** Milliseconds without use after which the chain is not followed any more. @default 60000 */
  readonly idleMs?: number;
}

const RETRY_MS = 1_000;
const LATE: unique symbol = Symbol('late');

/** The floor of one chain. Follows the pool while used; `close` ends that. */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: the floor, its followers and its idle end are one state.
export function createHeadFloor(options: HeadFloorOptions): HeadFloor {
  const { chain, pool, store, logger, clock = systemClock, storeTimeoutMs = 1_000, idleMs = 60_000 } = options;
  const closing = new AbortController();
  /** What answers may use: published, or this process' own while there is no store. */
  let floor: StoredHead | null = null;
  /** What the store is known to hold. */
  let stored: StoredHead | null = null;
  let isStoreAway = false;

  const watchers = new Set<(head: Head) => void>();
  let told: Head | null = null;
  const follower = createPoolFollower({
    chain,
    pool,
    clock,
    logger,
    idleMs,
    onChange: () => void exchange().then(tell),
    isWatched: () => watchers.size > 0,
  });

  function tell(): void {
    const { head } = follower;
    if (head === null || head === told) return;
    told = head;
    for (const watcher of watchers) watcher(head);
  }

  /** The highest that this process knows of. */
  function own(): StoredHead | null {
    const { head, finalized } = follower;
    return head === null ? floor : higher(floor, { head: head.number, finalized });
  }

  async function exchangeWith(shared: HeadStore): Promise<void> {
    const mine = own();
    if (mine !== null && isHigher(mine, stored)) stored = await inTime(shared.publish(chain.id, mine));
    else {
      const read = await inTime(shared.read(chain.id));
      // Lower than what was published before: it forgot.
      stored = mine !== null && isHigher(mine, read) ? await inTime(shared.publish(chain.id, mine)) : read;
    }
    if (stored !== null) floor = higher(floor, stored);
  }

  /** Makes the floor at least as high as anything published before the call. Never rejects. */
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
          'Shared head not reachable: answers go on from this process alone',
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
        stored = null;
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

  return {
    async read() {
      follower.use();
      const failure = await follower.ready().catch((error: unknown) => ({ error }));
      await exchange();
      if (floor === null) throw failure?.error ?? new RequestAbortedError('eth_blockNumber');
      return { latest: floor.head, finalized: floor.finalized };
    },
    async reveal(block) {
      if (store === null || (floor !== null && block <= floor.head)) return;
      try {
        await follower.refresh();
      } catch (error) {
        logger.debug({ chain: chain.key, error: errorText(error) }, 'Head not read');
      }
      await exchange();
    },
    get latest() {
      return own()?.head ?? null;
    },
    get finalBlock() {
      const known = own();
      return known === null ? null : (known.finalized ?? known.head - chain.reorgDepthMax);
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
      try {
        await follower.refresh();
      } catch (error) {
        logger.debug({ chain: chain.key, error: errorText(error) }, 'Head not read');
      }
      await exchange();
      tell();
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
