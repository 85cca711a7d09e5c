/** Something that must not take longer than `at`, in milliseconds of `performance.now()`. It may be changed at any time. */
export interface Deadline {
  at: number;
  passed(): void;
}

/** Watches many deadlines with one timer: a timer for each request costs as much as the rest of its forwarding. */
export interface Deadlines {
  add(deadline: Deadline): void;
  delete(deadline: Deadline): void;
}

const TICK_MS = 10;

/** Deadlines are noticed up to ten milliseconds late. The timer runs only while there are any, and holds no process up. */
export function createDeadlines(): Deadlines {
  const watched = new Set<Deadline>();
  let timer: NodeJS.Timeout | null = null;

  function tick(): void {
    // Stopped after a tick without any, not with the last one: traffic adds and deletes all the time.
    if (watched.size === 0) {
      if (timer !== null) clearInterval(timer);
      timer = null;
      return;
    }
    const now = performance.now();
    for (const deadline of watched) {
      if (deadline.at > now) continue;
      watched.delete(deadline);
      deadline.passed();
    }
  }

  return {
    add(deadline) {
      watched.add(deadline);
      timer ??= setInterval(tick, TICK_MS).unref();
    },
    delete(deadline) {
      watched.delete(deadline);
    },
  };
}
