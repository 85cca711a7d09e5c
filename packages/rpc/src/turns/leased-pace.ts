import type { Clock } from '@chainstead/core';
import type { CallPace, TurnMember, TurnOptions } from './call-turns.ts';

/** A pace whose calls somebody else grants. */
export interface LeasedPace extends CallPace {
  /** So many calls that were asked for may be made. */
  granted(calls: number): void;
}

export interface LeasedPaceOptions {
  readonly ratePerSecond: number;
  readonly member: Pick<TurnMember, 'ask' | 'giveBack'>;
  readonly clock: Pick<Clock, 'now'>;
}

/** Calls of the last part of a second are asked for ahead, so that busy times need no message for each. Milliseconds. */
const AHEAD_MS = 100;
/** What is granted and not used is given back after this, milliseconds. */
const KEPT_MS = 250;

interface Waiting {
  readonly calls: number;
  isServed: boolean;
  serve(): void;
}

/**
 * Asks for the calls that wait, and in busy times for some ahead, one message for many. What is urgent goes first here, too.
 * At most what was granted goes: whatever is lost on the way makes it slower, never faster.
 */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: what waits, what is granted and what was used lately are one state.
export function createLeasedPace({ ratePerSecond, member, clock }: LeasedPaceOptions): LeasedPace {
  const aheadMax = Math.floor((ratePerSecond * AHEAD_MS) / 1_000);
  const urgent: Waiting[] = [];
  const normal: Waiting[] = [];
  let stock = 0;
  /** Asked for and not granted yet: for calls that wait, and ahead. */
  let asked = 0;
  let aheadAsked = 0;
  /** Calls that wait: never more than what is in stock and asked for. */
  let waiting = 0;
  let usedNow = 0;
  let usedBefore = 0;
  let period = 0;
  let isReturning = false;

  function use(calls: number): void {
    stock -= calls;
    const now = Math.floor(clock.now() / AHEAD_MS);
    if (now !== period) {
      usedBefore = now === period + 1 ? usedNow : 0;
      usedNow = 0;
      period = now;
    }
    usedNow += calls;
  }

  function askAhead(): void {
    const target = Math.min(aheadMax, Math.max(usedBefore, usedNow));
    const missing = target - stock - aheadAsked;
    if (waiting > 0 || missing * 2 < target || missing < 1) return;
    aheadAsked += missing;
    member.ask(missing, 'ahead');
  }

  /** An urgent call takes of what was granted to others that wait for more: without another grant they would wait for ever. */
  function askForTheTaken(): void {
    const missing = waiting - stock - asked;
    if (missing <= 0) return;
    asked += missing;
    member.ask(missing, 'normal');
  }

  function serve(): void {
    for (const queue of [urgent, normal])
      for (let first = queue[0]; first !== undefined; first = queue[0]) {
        if (first.calls > stock) return;
        queue.shift();
        use(first.calls);
        waiting -= first.calls;
        first.isServed = true;
        first.serve();
      }
  }

  function giveBackLater(): void {
    if (stock === 0 || isReturning) return;
    isReturning = true;
    setTimeout(() => {
      isReturning = false;
      if (Math.floor(clock.now() / AHEAD_MS) - period < KEPT_MS / AHEAD_MS) return giveBackLater();
      const unused = stock - waiting;
      if (unused <= 0) return;
      stock -= unused;
      member.giveBack(unused);
    }, KEPT_MS).unref();
  }

  function waitForTurn(calls: number, isUrgent: boolean, signal: AbortSignal | undefined): Promise<void> | null {
    const turn = Promise.withResolvers<void>();
    const queue = isUrgent ? urgent : normal;
    const urgency = isUrgent ? 'urgent' : 'normal';
    const onAbort = (): void => {
      queue.splice(queue.indexOf(entry), 1);
      waiting -= calls;
      const needless = Math.min(asked, stock + asked - waiting);
      if (needless > 0) {
        asked -= needless;
        member.ask(-needless, urgency);
      }
      turn.reject(signal?.reason);
      serve();
      giveBackLater();
    };
    const entry: Waiting = {
      calls,
      isServed: false,
      serve() {
        signal?.removeEventListener('abort', onAbort);
        turn.resolve();
      },
    };
    queue.push(entry);
    waiting += calls;
    asked += calls;
    member.ask(calls, urgency);
    if (entry.isServed) return null;
    signal?.addEventListener('abort', onAbort, { once: true });
    return turn.promise;
  }

  return {
    get waiting() {
      return waiting;
    },
    take(calls, { urgent: isUrgent = false, signal }: TurnOptions) {
      if (signal?.aborted) return Promise.reject(signal.reason);
      const isFirst = urgent.length === 0 && (isUrgent || normal.length === 0);
      if (!isFirst || stock < calls) return waitForTurn(calls, isUrgent, signal);
      use(calls);
      askForTheTaken();
      askAhead();
      giveBackLater();
      return null;
    },
    granted(calls) {
      stock += calls;
      // What waits is granted before what is asked for ahead.
      const ahead = Math.max(0, calls - asked);
      asked -= calls - ahead;
      aheadAsked = Math.max(0, aheadAsked - ahead);
      serve();
      askAhead();
      giveBackLater();
    },
  };
}
