import { shareRuns } from '../heads/share-runs.ts';

/** Keeps a feed running while it is asked for now and then, as those who poll do. */
export interface FeedLease {
  /** Resolves once the feed runs. @throws as the feed's `watch` */
  hold(): Promise<void>;
  close(): void;
}

/** Polls come with every block or every few seconds. Milliseconds. */
const IDLE_MS = 60_000;

/** @param watch begins watching, and gives what ends it */
export function createFeedLease(watch: () => Promise<() => void>): FeedLease {
  let stop: (() => void) | null = null;
  let idle: NodeJS.Timeout | null = null;

  function end(): void {
    if (idle !== null) clearTimeout(idle);
    idle = null;
    stop?.();
    stop = null;
  }

  const begin = shareRuns(async () => {
    stop ??= await watch();
  });

  return {
    async hold() {
      if (stop === null) await begin();
      if (idle === null) idle = setTimeout(end, IDLE_MS).unref();
      else idle.refresh();
    },
    close: end,
  };
}
