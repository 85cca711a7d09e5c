/** A time limit `at`, in milliseconds of `performance.now()`. It may change at any time. */
export interface Deadline {
  at: number;
  /** Its index among the watched deadlines; -1 if not watched. Maintained by {@link Deadlines}. */
  place: number;
  passed(): void;
}

/** Watches many deadlines with one timer: a timer per request costs as much as the rest of its forwarding. */
export interface Deadlines {
  add(deadline: Deadline): void;
  delete(deadline: Deadline): void;
}

const TICK_MS = 10;

/** Deadlines fire up to ten milliseconds late. The timer keeps no process alive. */
export function createDeadlines(): Deadlines {
  // Not a Set: its outgrown tables keep deleted entries alive until a full garbage collection.
  const watched: Deadline[] = [];
  let timer: NodeJS.Timeout | null = null;

  function tick(): void {
    // Stopped after an idle tick instead of with the last deadline: traffic adds and deletes all the time.
    if (watched.length === 0) {
      if (timer !== null) clearInterval(timer);
      timer = null;
      return;
    }
    const now = performance.now();
    for (const deadline of watched.filter(({ at }) => at <= now)) {
      // The expiry of another deadline may have removed it.
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
