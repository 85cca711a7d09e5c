import type { Clock } from '@chainstead/core';

export interface HostLaneOptions<Item> {
  /** Takes up to so many that are due into its hands; fewer when there are no more for now. */
  readonly claim: (limit: number) => Promise<readonly Item[]>;
  /** Sends one, and resolves when that is recorded. Tells as soon as it has been taken. Never throws. */
  readonly deliver: (item: Item, onTaken: () => void) => Promise<void>;
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

/** Claimed ahead is what a host answers in so much time, measured over as much, and at first over less. Milliseconds. */
const AHEAD_MS = 250;
const FIRST_LOOK_MS = 50;
const AHEAD_MAX = 500;
/** What was claimed and waits for longer is put back: a reorganisation or a pause may have come in between. Milliseconds. */
const STALE_MS = 1_000;
/** Answered and not recorded yet: so much is sent once more when the process dies. */
const UNRECORDED_MAX = 1_000;

// biome-ignore lint/complexity/noExcessiveLinesPerFunction: what is claimed, under way and unfinished is one state, of which no part can be read alone.
export function createHostLane<Item>(options: HostLaneOptions<Item>): HostLane {
  const { claim, deliver, putBack, allowance, isEnding, turnMs, clock } = options;
  const pace = createPace(clock);
  let claimed: readonly Item[] = [];
  /** The first of them that is not sent yet: a copy of the rest for each that is sent would be most of what this costs. */
  let place = 0;
  let claimedAt = 0;
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
    await deliver(item, () => {
      isTaken = true;
      underWay -= 1;
      pace.count();
      change();
    });
    if (!isTaken) {
      underWay -= 1;
      // It may have been the failure after which a stream is to get nothing more.
      mustPutBack = true;
      pace.reset();
    }
    unfinished -= 1;
    change();
  }

  function startClaimed(most: number): void {
    const count = Math.min(claimed.length - place, most - underWay, UNRECORDED_MAX + underWay - unfinished);
    if (count <= 0) return;
    const next = claimed.slice(place, place + count);
    place += count;
    for (const item of next) void start(item);
  }

  async function claimSome(limit: number): Promise<void> {
    isClaiming = true;
    mayHaveMore = false;
    try {
      const items = await claim(limit);
      if (items.length === limit) mayHaveMore = true;
      if (place === claimed.length) claimedAt = clock.now();
      claimed = [...claimed.slice(place), ...items];
      place = 0;
    } catch (error) {
      failure = { error };
    }
    isClaiming = false;
    change();
  }

  function putClaimedBack(): void {
    putBack(claimed.slice(place));
    claimed = [];
    place = 0;
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
        if (place < claimed.length && (mustPutBack || isEnding() || clock.now() - claimedAt > STALE_MS))
          putClaimedBack();
        if (!isClaiming || !isClaimedAhead) mustPutBack = false;
        startClaimed(most);
        const mayClaim = mayHaveMore && failure === null && !isEnding() && clock.now() < turnEnds;
        if (!mayClaim && !isClaiming && place === claimed.length && unfinished === 0) break;
        const ahead = pace.expected();
        const wanted = most + ahead - underWay - (claimed.length - place);
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

/** Counts answers. */
function createPace(clock: Clock) {
  let since = clock.now();
  let answers = 0;
  let expected = 0;
  return {
    count(): void {
      answers += 1;
    },
    reset(): void {
      since = clock.now();
      answers = 0;
      expected = 0;
    },
    /** How many are likely to be answered in the next AHEAD_MS, as were in the last. */
    expected(): number {
      const elapsed = clock.now() - since;
      if (elapsed >= (expected === 0 ? FIRST_LOOK_MS : AHEAD_MS)) {
        expected = Math.min(AHEAD_MAX, Math.floor((answers * AHEAD_MS) / elapsed));
        since = clock.now();
        answers = 0;
      }
      return expected;
    },
  };
}
