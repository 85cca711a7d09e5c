import { type Clock, errorText, type Logger } from '@chainstead/core';
import type { GatewayChain, LeaveSignal, PinnedHead, RequestScope } from '../call.ts';
import type { Subscriber } from '../subscriptions/client-subscriptions.ts';

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

/** Starts a pool at its first call, since most offered chains are never used. */
type PoolStart = ReturnType<typeof createPoolStart>;

const RETRY_MS = 1_000;

export function createPoolStart(
  { slug, pool }: GatewayChain,
  { clock, logger }: { readonly clock: Pick<Clock, 'now'>; readonly logger: Logger },
) {
  let isStarted = false;
  let pending: Promise<boolean> | null = null;
  let failedAt = Number.NEGATIVE_INFINITY;

  async function start(): Promise<boolean> {
    try {
      await pool.start();
      isStarted = true;
    } catch (error) {
      failedAt = clock.now();
      logger.error(
        { chain: slug, reason: errorText(error) },
        'No upstream of the chain can be used by the gateway',
      );
    } finally {
      pending = null;
    }
    return isStarted;
  }

  return {
    get isStarted(): boolean {
      return isStarted;
    },
    /** Once for all concurrent callers. @returns false if no upstream is usable */
    start(): Promise<boolean> {
      if (isStarted) return Promise.resolve(true);
      if (pending === null && clock.now() - failedAt < RETRY_MS) return Promise.resolve(false);
      pending ??= start();
      return pending;
    },
  };
}

export interface ServedChain {
  readonly chain: GatewayChain;
  readonly start: PoolStart;
}

export interface RequestContext {
  readonly served: ServedChain;
  readonly scope: OpenScope;
  readonly keyId: string;
  readonly subscriber: Subscriber | null;
}
