import type { CallSlots, TurnMember } from './call-turns.ts';

/** Slots that somebody else grants. */
export interface LeasedSlots extends CallSlots {
  /** So many slots that were asked for are there. */
  granted(slots: number): void;
}

/** What is free and nobody here waits for is given back after this; a caller who goes on at once keeps it. Milliseconds. */
const KEPT_MS = 20;

/** Asks for a slot for each request that waits, and gives each back where others may wait for it. */
export function createLeasedSlots(member: Pick<TurnMember, 'ask' | 'giveBack'>): LeasedSlots {
  const urgent: (() => void)[] = [];
  const normal: (() => void)[] = [];
  let free = 0;
  let asked = 0;
  let isReturning = false;

  const waiting = (): number => urgent.length + normal.length;

  function serve(): void {
    while (free > 0) {
      const go = urgent.shift() ?? normal.shift();
      if (go === undefined) break;
      free -= 1;
      go();
    }
    if (free === 0 || isReturning) return;
    isReturning = true;
    setTimeout(() => {
      isReturning = false;
      const unused = free;
      free = 0;
      if (unused > 0) member.giveBack(unused);
    }, KEPT_MS).unref();
  }

  function waitForTurn(isUrgent: boolean, signal: AbortSignal | undefined): Promise<void> | null {
    const turn = Promise.withResolvers<void>();
    const queue = isUrgent ? urgent : normal;
    const urgency = isUrgent ? 'urgent' : 'normal';
    let isServed = false;
    const go = (): void => {
      isServed = true;
      signal?.removeEventListener('abort', onAbort);
      turn.resolve();
    };
    const onAbort = (): void => {
      queue.splice(queue.indexOf(go), 1);
      if (asked > waiting()) {
        asked -= 1;
        member.ask(-1, urgency);
      }
      turn.reject(signal?.reason);
    };
    queue.push(go);
    asked += 1;
    member.ask(1, urgency);
    if (isServed) return null;
    signal?.addEventListener('abort', onAbort, { once: true });
    return turn.promise;
  }

  return {
    get waiting() {
      return waiting();
    },
    enter({ urgent: isUrgent = false, signal }) {
      if (signal?.aborted) return Promise.reject(signal.reason);
      if (free === 0 || waiting() > 0) return waitForTurn(isUrgent, signal);
      free -= 1;
      return null;
    },
    leave() {
      // Each of those who wait has asked for a slot of its own: this one may be somebody else's turn.
      if (waiting() > 0) member.giveBack(1);
      else {
        free += 1;
        serve();
      }
    },
    granted(slots) {
      free += slots;
      asked = Math.max(0, asked - slots);
      serve();
    },
  };
}
