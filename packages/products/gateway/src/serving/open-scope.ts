import type { GatewayChain, LeaveSignal, PinnedHead, RequestScope } from '../call.ts';

/** For one HTTP request. Creates signal and timer only when a call must wait. */
export class OpenScope implements RequestScope {
  readonly chain: GatewayChain;
  head: Promise<PinnedHead> | null = null;
  readonly #timeoutMs: number;
  #leave: Leave | null = null;
  #timer: NodeJS.Timeout | null = null;
  readonly #whenLate: (() => void)[] = [];

  /** @param timeoutMs from the first waiting call until unfinished ones are canceled */
  constructor(chain: GatewayChain, timeoutMs: number) {
    this.chain = chain;
    this.#timeoutMs = timeoutMs;
  }

  get signal(): LeaveSignal {
    this.#leave ??= new Leave();
    return this.#leave;
  }

  withinTime<T>(value: Promise<T>, late: T): Promise<T> {
    return new Promise((resolve) => {
      void value.then(resolve);
      this.#whenLate.push(() => resolve(late));
      this.#timer ??= setTimeout(() => {
        for (const giveUp of this.#whenLate) giveUp();
        this.abort();
      }, this.#timeoutMs);
    });
  }

  abort(): void {
    this.#leave?.abort();
  }

  end(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
  }
}

class Leave implements LeaveSignal {
  aborted = false;
  readonly #listeners = new Set<() => void>();

  addEventListener(_type: 'abort', listener: () => void): void {
    this.#listeners.add(listener);
  }

  removeEventListener(_type: 'abort', listener: () => void): void {
    this.#listeners.delete(listener);
  }

  abort(): void {
    if (this.aborted) return;
    this.aborted = true;
    for (const listener of this.#listeners) listener();
    this.#listeners.clear();
  }
}
