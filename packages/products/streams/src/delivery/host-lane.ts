import type { Clock } from '@chainstead/core';

export interface HostLaneOptions<Item> {
  readonly claim: (limit: number) => Promise<readonly Item[]>;
  /** Never throws. `onTaken`: the item's length in characters, on acceptance. */
  readonly deliver: (item: Item, onTaken: (length: number) => void) => Promise<void>;
  readonly putBack: (items: readonly Item[]) => void;
  /** Maximum of concurrent items, at least 1. */
  readonly allowance: (underWay: number) => number;
  readonly isEnding: () => boolean;
  readonly turnMs: number;
  readonly clock: Clock;
}

export interface HostLane {
  readonly underWay: number;
  /** Until nothing is due or the turn is over. Throws errors of `claim` at the end. */
  run(): Promise<void>;
  wake(): void;
}

const AHEAD_TIMES = 2;
const LOOK_MS = 250;
const AHEAD_MAX = 1_000;
const AHEAD_LENGTH_MAX = 33_554_432;
const CAUTION_MS = 50;
/** Older claims are put back: a reorg or a pause may have happened. */
const STALE_MS = 1_000;
/** So many webhooks are sent again if the process dies. */
const UNRECORDED_MAX = 1_000;

// biome-ignore lint/complexity/noExcessiveLinesPerFunction: what is claimed, under way and unfinished is one state, of which no part can be read alone.
export function createHostLane<Item>(options: HostLaneOptions<Item>): HostLane {
  const { claim, deliver, putBack, allowance, isEnding, turnMs, clock } = options;
  const pace = createPace(clock);
  const claimed = createClaimedItems<Item>();
  let underWay = 0;
  let unfinished = 0;
  let isClaiming = false;
  let isClaimedAhead = false;
  let mustPutBack = false;
  let mayHaveMore = true;
  let failure: { readonly error: unknown } | null = null;
  let changed = Promise.withResolvers<void>();

  function change(): void {
    changed.resolve();
    changed = Promise.withResolvers();
  }

  async function start(item: Item): Promise<void> {
    underWay += 1;
    unfinished += 1;
    let isTaken = false;
    await deliver(item, (length) => {
      isTaken = true;
      underWay -= 1;
      pace.count(length);
      change();
    });
    if (!isTaken) {
      underWay -= 1;
      mustPutBack = true;
      pace.slowDown();
    }
    unfinished -= 1;
    change();
  }

  function startClaimed(most: number): void {
    const count = Math.min(claimed.count, most - underWay, UNRECORDED_MAX + underWay - unfinished);
    if (count <= 0) return;
    for (const item of claimed.take(count)) void start(item);
  }

  async function claimSome(limit: number): Promise<void> {
    isClaiming = true;
    mayHaveMore = false;
    try {
      const items = await claim(limit);
      if (items.length === limit) mayHaveMore = true;
      claimed.add(items, clock.now());
    } catch (error) {
      failure = { error };
    }
    isClaiming = false;
    change();
  }

  return {
    get underWay() {
      return underWay;
    },
    async run() {
      const turnEnds = clock.now() + turnMs;
      for (;;) {
        const most = allowance(underWay);
        if (claimed.count > 0 && (mustPutBack || isEnding() || clock.now() - claimed.since > STALE_MS)) {
          putBack(claimed.take(claimed.count));
          mayHaveMore = true;
        }
        if (!isClaiming || !isClaimedAhead) mustPutBack = false;
        startClaimed(most);
        const mayClaim = mayHaveMore && failure === null && !isEnding() && clock.now() < turnEnds;
        if (!mayClaim && !isClaiming && claimed.count === 0 && unfinished === 0) break;
        const ahead = pace.ahead(most);
        const wanted = most + ahead - underWay - claimed.count;
        if (mayClaim && !isClaiming && wanted >= Math.ceil((most + ahead) / 2)) {
          isClaimedAhead = ahead > 0;
          void claimSome(wanted);
        } else await changed.promise;
      }
      if (failure !== null) throw failure.error;
    },
    wake() {
      mayHaveMore = true;
      change();
    },
  };
}

function createClaimedItems<Item>() {
  const batches: { readonly items: readonly Item[]; readonly at: number }[] = [];
  /** Into the first batch. Copying the rest for each taken item would dominate a lane's cost. */
  let index = 0;
  let count = 0;
  return {
    get count() {
      return count;
    },
    get since() {
      return batches[0]?.at ?? Number.POSITIVE_INFINITY;
    },
    add(items: readonly Item[], at: number): void {
      if (items.length > 0) batches.push({ items, at });
      count += items.length;
    },
    take(most: number): Item[] {
      const taken: Item[] = [];
      for (let batch = batches[0]; batch !== undefined && taken.length < most; batch = batches[0]) {
        const part = batch.items.slice(index, index + most - taken.length);
        taken.push(...part);
        index += part.length;
        if (index < batch.items.length) break;
        batches.shift();
        index = 0;
      }
      count -= taken.length;
      return taken;
    },
  };
}

function createPace(clock: Clock) {
  let since = clock.now();
  let answers = 0;
  let lately = 0;
  let cautiousUntil = Number.NEGATIVE_INFINITY;
  let meanLength = 0;
  return {
    count(length: number): void {
      answers += 1;
      meanLength = meanLength === 0 ? length : meanLength + (length - meanLength) * LAST_WEIGHT;
    },
    slowDown(): void {
      since = clock.now();
      answers = 0;
      lately = 0;
      cautiousUntil = since + CAUTION_MS;
    },
    ahead(underWayMax: number): number {
      const now = clock.now();
      if (now < cautiousUntil) return 0;
      if (now - since >= LOOK_MS) {
        lately = (answers * LOOK_MS) / (now - since);
        since = now;
        answers = 0;
      }
      const answered = answers < underWayMax ? lately : Math.max(lately, answers);
      return Math.floor(Math.min(AHEAD_MAX, AHEAD_TIMES * answered, AHEAD_LENGTH_MAX / Math.max(1, meanLength)));
    },
  };
}

const LAST_WEIGHT = 1 / 16;
