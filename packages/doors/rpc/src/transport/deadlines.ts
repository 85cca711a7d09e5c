/** `at`: milliseconds of `performance.now()`. It may change. */
export interface Deadline {
  at: number;
  /** Set by {@link Deadlines}; -1: not watched. */
  place: number;
  passed(): void;
}

/** One timer: one per request costs as much as the rest of forwarding. */
export interface Deadlines {
  add(deadline: Deadline): void;
  delete(deadline: Deadline): void;
}

const TICK_MS = 10;

/** Up to ten milliseconds late. Keeps no process alive. */
export function createDeadlines(): Deadlines {
  // Not a Set: its old tables keep entries alive until a full collection.
  const watched: Deadline[] = [];
  let timer: NodeJS.Timeout | null = null;

  function tick(): void {
    if (watched.length === 0) {
      if (timer !== null) clearInterval(timer);
      timer = null;
      return;
    }
    const now = performance.now();
    for (const deadline of watched.filter(({ at }) => at <= now)) {
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
