import { type Clock, errorText, type Logger, sleepUnlessAborted } from '@chainstead/core';
import { type Head, RequestAbortedError, type UpstreamPool } from '@chainstead/rpc';
import { shareRuns } from './head-store.ts';

export interface PoolFollowerOptions {
  readonly chain: { readonly key: string };
  readonly pool: Pick<UpstreamPool, 'getHead' | 'getFinalized' | 'waitForHead'>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly idleMs: number;
  readonly onChange: () => void;
  readonly isWatched: () => boolean;
}

const FINALITY_EVERY_MS = 2_000;
const RETRY_MS = 500;

// biome-ignore lint/complexity/noExcessiveLinesPerFunction: start, idle end and changes share one following.
export function createPoolFollower(options: PoolFollowerOptions) {
  const { chain, pool, clock, logger, idleMs, onChange, isWatched } = options;
  let head: Head | null = null;
  let finalized: number | null = null;
  let generation = 0;
  let lastUse = 0;
  let finalityReadAt = Number.NEGATIVE_INFINITY;
  let following: AbortController | null = null;
  let isReady = false;
  let isClosed = false;
  let first = waitable();

  function adopt(value: Head): void {
    if (head !== null && head.hash === value.hash) return;
    head = value;
    generation++;
  }

  function giveUp(error: unknown = new RequestAbortedError('eth_blockNumber')): void {
    const failed = first;
    first = waitable();
    failed.reject(error);
  }

  const readFinality = shareRuns(async () => {
    finalityReadAt = clock.now();
    try {
      const number = await pool.getFinalized(following === null ? {} : { signal: following.signal });
      if (number !== null && (finalized === null || number > finalized)) finalized = number;
    } catch (error) {
      logger.debug({ chain: chain.key, error: errorText(error) }, 'Finalized block not read');
    }
  });

  async function step(after: Head | null, signal: AbortSignal): Promise<Head> {
    const { value } = after === null ? await pool.getHead({ signal }) : await pool.waitForHead(after, signal);
    adopt(value);
    if (!isReady) {
      await readFinality();
      isReady = true;
      first.resolve();
    } else if (clock.now() - finalityReadAt >= FINALITY_EVERY_MS) {
      void readFinality().then(onChange);
    }
    onChange();
    return value;
  }

  async function follow(signal: AbortSignal): Promise<void> {
    let after: Head | null = null;
    while (!signal.aborted) {
      try {
        after = await step(after, signal);
      } catch (error) {
        if (signal.aborted) return;
        giveUp(error);
        logger.debug({ chain: chain.key, error: errorText(error) }, 'Head not read');
        await sleepUnlessAborted(clock, RETRY_MS, signal);
      }
    }
  }

  async function endWhenIdle(ending: AbortController): Promise<void> {
    let rest = idleMs;
    while (rest > 0) {
      await sleepUnlessAborted(clock, rest, ending.signal);
      if (ending.signal.aborted) return;
      rest = isWatched() ? idleMs : lastUse + idleMs - clock.now();
    }
    following = null;
    isReady = false;
    // Facts about the newest block may be outdated.
    generation++;
    giveUp();
    ending.abort();
  }

  const refresh = shareRuns(async () => {
    const { value } = await pool.getHead();
    // A lower head came from an upstream that lags.
    if (head === null || value.number > head.number) adopt(value);
  });

  return {
    get head(): Head | null {
      return head;
    },
    get finalized(): number | null {
      return finalized;
    },
    /** Changes with the newest block, also at the same height. */
    get generation(): number {
      return generation;
    },
    /** At each use: an unused chain is not followed, since providers bill requests. */
    use(): void {
      lastUse = clock.now();
      if (following !== null || isClosed) return;
      following = new AbortController();
      void follow(following.signal);
      void endWhenIdle(following);
    },
    /** Resolves once a head was read in this use. @throws as {@link UpstreamPool.getHead} */
    ready: async (): Promise<void> => (isReady ? undefined : first.promise),
    refresh,
    close(): void {
      isClosed = true;
      following?.abort();
      following = null;
      first.reject(new RequestAbortedError('eth_blockNumber'));
    },
  };
}

function waitable(): PromiseWithResolvers<void> {
  const made = Promise.withResolvers<void>();
  // The promise may fail without a listener.
  made.promise.catch(() => undefined);
  return made;
}
