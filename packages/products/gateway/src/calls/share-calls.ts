import type { LeaveSignal, Outcome } from '../call.ts';
import { TIMED_OUT } from '../protocol/rpc-errors.ts';

/** Never rejects. The signal aborts when no caller waits. */
export type RunCall = (signal: AbortSignal) => Promise<Outcome>;

export interface RequestedRun {
  readonly key: string;
  /** The run must begin after this call: awaits the current one, shares the next. */
  readonly isFresh: boolean;
  readonly signal?: LeaveSignal | undefined;
}

const LEFT: Outcome = { ok: false, error: TIMED_OUT };

export function createSharedCalls() {
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
    /**
     * A signal ends only its caller's wait; the run ends when the last caller leaves.
     * A stream goes to one caller, and the others run the call again.
     */
    run({ key, isFresh, signal }: RequestedRun, run: RunCall): { outcome: Promise<Outcome>; isShared: boolean } {
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

class Flight {
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
        // A stream can be read only once.
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
    this.#end();
    this.#ending.abort();
  }

  #end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#onOver();
  }
}

/** Explicit callbacks: one is created for every call. */
interface Waiter {
  readonly resolve: (outcome: Outcome | Promise<Outcome>) => void;
  readonly signal: LeaveSignal | undefined;
  readonly leave: () => void;
}

const LISTEN_ONCE = { once: true } as const;
