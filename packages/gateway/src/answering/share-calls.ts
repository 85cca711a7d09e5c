import type { LeaveSignal, Outcome } from '../call.ts';
import { TIMED_OUT } from '../protocol/rpc-errors.ts';

/** Runs a call; never rejects. Its signal is aborted when nobody waits for it any more. */
export type RunCall = (signal: AbortSignal) => Promise<Outcome>;

/** One run for all who ask the same at the same time. */
export interface SharedCalls {
  /**
   * Joins the run that is under way, or begins one. The caller's signal ends only its own waiting; the last one who leaves
   * ends the run. An answer in pieces goes to one of the callers, the others ask by themselves then.
   */
  run(asked: AskedRun, run: RunCall): SharedRun;
}

export interface AskedRun {
  /** The same for calls that one run answers. */
  readonly key: string;
  /** Whether the run must begin after this call: then the one under way is waited for, and the next is shared. */
  readonly isFresh: boolean;
  readonly signal?: LeaveSignal | undefined;
}

/** What a caller gets. */
export interface SharedRun {
  readonly outcome: Promise<Outcome>;
  /** Whether others asked first. */
  readonly isShared: boolean;
}

/** Nobody reads it: the caller is gone. */
const LEFT: Outcome = { ok: false, error: TIMED_OUT };

export function createSharedCalls(): SharedCalls {
  const flights = new Map<string, Flight>();

  function begin(key: string, flight: Flight): void {
    flights.set(key, flight);
    flight.begin(() => {
      if (flights.get(key) !== flight) return;
      flights.delete(key);
      const { next } = flight;
      if (next?.isWanted) begin(key, next);
    });
  }

  return {
    run({ key, isFresh, signal }, run) {
      if (signal?.aborted) return { outcome: Promise.resolve(LEFT), isShared: false };
      const current = flights.get(key);
      if (current === undefined) {
        const flight = new Flight(run);
        const outcome = flight.join(signal);
        begin(key, flight);
        return { outcome, isShared: false };
      }
      if (!isFresh) return { outcome: current.join(signal), isShared: true };
      const isShared = current.next?.isWanted === true;
      if (current.next === null || !isShared) current.next = new Flight(run);
      return { outcome: current.next.join(signal), isShared };
    },
  };
}

/** One run and those who wait for it. */
class Flight {
  /** Begins when this one ends. */
  next: Flight | null = null;
  readonly #run: RunCall;
  readonly #ending = new AbortController();
  readonly #waiting = new Set<Waiter>();
  #isOver = false;
  #onOver: () => void = () => undefined;

  constructor(run: RunCall) {
    this.#run = run;
  }

  get isWanted(): boolean {
    return this.#waiting.size > 0;
  }

  begin(onOver: () => void): void {
    this.#onOver = onOver;
    void this.#run(this.#ending.signal).then((outcome) => {
      // Nobody may join what has its outcome.
      this.#end();
      this.#handOut(outcome);
    });
  }

  join(signal: LeaveSignal | undefined): Promise<Outcome> {
    return new Promise((resolve) => {
      const waiter: Waiter = { resolve, signal, leave: () => this.#leave(waiter) };
      this.#waiting.add(waiter);
      signal?.addEventListener('abort', waiter.leave, LISTEN_ONCE);
    });
  }

  #handOut(outcome: Outcome): void {
    let isTaken = false;
    for (const { resolve, signal, leave } of this.#waiting) {
      signal?.removeEventListener('abort', leave);
      if (!outcome.ok || Buffer.isBuffer(outcome.result)) resolve(outcome);
      else if (isTaken) resolve(this.#runAlone(signal));
      else {
        // Pieces can be read once.
        isTaken = true;
        signal?.addEventListener('abort', () => this.#ending.abort(), LISTEN_ONCE);
        resolve(outcome);
      }
    }
    this.#waiting.clear();
  }

  #runAlone(signal: LeaveSignal | undefined): Promise<Outcome> {
    const ending = new AbortController();
    signal?.addEventListener('abort', () => ending.abort(), LISTEN_ONCE);
    return this.#run(ending.signal);
  }

  #leave(waiter: Waiter): void {
    this.#waiting.delete(waiter);
    waiter.resolve(LEFT);
    if (this.#waiting.size > 0 || this.#isOver) return;
    // Nobody may join what is given up.
    this.#end();
    this.#ending.abort();
  }

  #end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#onOver();
  }
}

/** One who waits: a promise that is settled by hand, for these are made for every call. */
interface Waiter {
  readonly resolve: (outcome: Outcome | Promise<Outcome>) => void;
  readonly signal: LeaveSignal | undefined;
  readonly leave: () => void;
}

const LISTEN_ONCE = { once: true } as const;
