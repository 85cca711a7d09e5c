/** Something that must not take longer than `at`, in milliseconds of `performance.now()`. It may be changed at any time. */
export interface Deadline {
  at: number;
  /** Where it stands among the watched; -1 while it is not. Kept by {@link Deadlines}. */
  place: number;
  passed(): void;
}

/** Watches many deadlines with one timer: a timer for each request costs as much as the rest of its forwarding. */
export interface Deadlines {
  add(deadline: Deadline): void;
  /** Does nothing where it is not watched. */
  delete(deadline: Deadline): void;
}

const TICK_MS = 10;

/** Deadlines are noticed up to ten milliseconds late. The timer runs only while there are any, and holds no process up. */
export function createDeadlines(): Deadlines {
  // Not a Set: the tables that it outgrows keep what was deleted alive until a full garbage collection.
  const watched: Deadline[] = [];
  let timer: NodeJS.Timeout | null = null;

  function tick(): void {
    // Stopped after a tick without any, not with the last one: traffic adds and deletes all the time.
    if (watched.length === 0) {
      if (timer !== null) clearInterval(timer);
      timer = null;
      return;
    }
    const now = performance.now();
    for (const deadline of watched.filter(({ at }) => at <= now)) {
      // Another one's passing may have ended it.
      if (deadline.place < 0) continue;
      remove(deadline);
      deadline.passed();
    }
  }

  function remove(deadline: Deadline): void {
    const { place } = deadline;
    const last = watched.pop();
    deadline.place = -1;
    if (last === undefined || last === deadline) return;
    watched[place] = last;
    last.place = place;
  }

  return {
    add(deadline) {
      deadline.place = watched.push(deadline) - 1;
      timer ??= setInterval(tick, TICK_MS).unref();
    },
    delete(deadline) {
      if (deadline.place >= 0) remove(deadline);
    },
  };
}
