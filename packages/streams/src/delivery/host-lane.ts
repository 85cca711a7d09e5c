import type { Clock } from '@chainstead/core';

export interface HostLaneOptions<Item> {
  /** Takes up to so many that are due; fewer when there are no more for now. */
  readonly claim: (limit: number) => Promise<readonly Item[]>;
  /** Sends one. Never throws. */
  readonly deliver: (item: Item) => Promise<void>;
  /** How many may be under way at once, as of now and when so many are. At least 1. */
  readonly allowance: (underWay: number) => number;
  /** Whether no more are to be claimed, because the process ends. */
  readonly isEnding: () => boolean;
  /** Then no more are claimed either, so that other hosts get their turn. Milliseconds. */
  readonly turnMs: number;
  readonly clock: Clock;
}

/** One receiving host's share of the sending: it keeps so many webhooks under way and no more, however slow the host is. */
export interface HostLane {
  readonly underWay: number;
  /** Sends what is due until nothing is, or until its turn is over. Throws what `claim` throws, after all has been sent. */
  run(): Promise<void>;
  /** There may be something due again. */
  wake(): void;
}

export function createHostLane<Item>(options: HostLaneOptions<Item>): HostLane {
  const { claim, deliver, allowance, isEnding, turnMs, clock } = options;
  let underWay = 0;
  let mayHaveMore = true;
  let failure: { readonly error: unknown } | null = null;
  let changed = Promise.withResolvers<void>();

  function change(): void {
    changed.resolve();
    changed = Promise.withResolvers();
  }

  async function start(item: Item): Promise<void> {
    underWay += 1;
    await deliver(item);
    underWay -= 1;
    change();
  }

  async function claimSome(limit: number): Promise<void> {
    mayHaveMore = false;
    try {
      const items = await claim(limit);
      if (items.length === limit) mayHaveMore = true;
      for (const item of items) void start(item);
    } catch (error) {
      failure = { error };
    }
  }

  return {
    get underWay() {
      return underWay;
    },
    async run() {
      const turnEnds = clock.now() + turnMs;
      for (;;) {
        const mayClaim = mayHaveMore && failure === null && !isEnding() && clock.now() < turnEnds;
        if (!mayClaim && underWay === 0) break;
        const most = allowance(underWay);
        const free = most - underWay;
        // Claims of a few at a time: each is a round trip to Postgres.
        if (mayClaim && free >= Math.ceil(most / 2)) await claimSome(free);
        else await changed.promise;
      }
      if (failure !== null) throw failure.error;
    },
    wake() {
      mayHaveMore = true;
      change();
    },
  };
}
