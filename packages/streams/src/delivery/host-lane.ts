import type { Clock } from '@chainstead/core';

export interface HostLaneOptions<Item> {
  /** Takes up to so many that are due into its hands; fewer when there are no more for now. */
  readonly claim: (limit: number) => Promise<readonly Item[]>;
  /** Sends one, and resolves when that is recorded. Tells as soon as it has been taken, and how many characters. Never throws. */
  readonly deliver: (item: Item, onTaken: (length: number) => void) => Promise<void>;
  /** For those that were taken and are not sent after all. */
  readonly putBack: (items: readonly Item[]) => void;
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
  /** Sent and not answered yet. */
  readonly underWay: number;
  /** Sends what is due until nothing is, or until its turn is over. Throws what `claim` throws, after all has been sent. */
  run(): Promise<void>;
  /** There may be something due again. */
  wake(): void;
}

/**
 * Claimed ahead is so many times what the host answered in the last LOOK_MS: their bodies are made meanwhile, so that sending waits for
 * none, and the more the faster they are taken. Milliseconds.
 */
const AHEAD_TIMES = 2;
const LOOK_MS = 250;
const AHEAD_MAX = 1_000;
/** The bodies of those lie in memory. Characters. */
const AHEAD_LENGTH_MAX = 33_554_432;
/** After a failure nothing is claimed ahead for so long. Milliseconds. */
const CAUTION_MS = 50;
/** What was claimed and waits for longer is put back: a reorganisation or a pause may have come in between. Milliseconds. */
const STALE_MS = 1_000;
/** Answered and not recorded yet: so much is sent once more when the process dies. */
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
      // It may have been the failure after which a stream is to get nothing more.
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

  function putClaimedBack(): void {
    putBack(claimed.take(claimed.count));
    mayHaveMore = true;
  }

  return {
    get underWay() {
      return underWay;
    },
    async run() {
      const turnEnds = clock.now() + turnMs;
      for (;;) {
        const most = allowance(underWay);
        if (claimed.count > 0 && (mustPutBack || isEnding() || clock.now() - claimed.since > STALE_MS))
          putClaimedBack();
        if (!isClaiming || !isClaimedAhead) mustPutBack = false;
        startClaimed(most);
        const mayClaim = mayHaveMore && failure === null && !isEnding() && clock.now() < turnEnds;
        if (!mayClaim && !isClaiming && claimed.count === 0 && unfinished === 0) break;
        const ahead = pace.ahead(most);
        const wanted = most + ahead - underWay - claimed.count;
        // Claims of a few at a time: each is a round trip to Postgres.
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

/** In the order they were claimed. */
function createClaimedItems<Item>() {
  const batches: { readonly items: readonly Item[]; readonly at: number }[] = [];
  /** The first of the first batch that is left: a copy of the rest for each that is taken would be most of what a lane costs. */
  let place = 0;
  let count = 0;
  return {
    get count() {
      return count;
    },
    /** When the first of them was claimed. */
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
        const part = batch.items.slice(place, place + most - taken.length);
        taken.push(...part);
        place += part.length;
        if (place < batch.items.length) break;
        batches.shift();
        place = 0;
      }
      count -= taken.length;
      return taken;
    },
  };
}

/** Counts answers. */
function createPace(clock: Clock) {
  let since = clock.now();
  let answers = 0;
  let lately = 0;
  let cautiousUntil = Number.NEGATIVE_INFINITY;
  /** Of one body; the last ones count for most. */
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
    /** How many to claim ahead. At first it takes a round of answers to know anything. */
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

/** Of one answer among those before it. */
const LAST_WEIGHT = 1 / 16;
