import type { GatewayChain, PinnedHead, RequestScope } from '../call.ts';

/** What the calls of one HTTP request share. Makes its signal and timer only when a call has to wait. */
export interface OpenScope extends RequestScope {
  /** Settles to the value, or to `late` once the request's time is over. */
  withinTime<T>(value: Promise<T>, late: T): Promise<T>;
  /** Gives up the calls that are under way: nobody waits for them any more. */
  abort(): void;
  /** The request is answered. */
  end(): void;
}

/** @param timeoutMs from now until calls that have no answer yet are given up */
export function openScope(chain: GatewayChain, timeoutMs: number): OpenScope {
  let controller: AbortController | null = null;
  let timer: NodeJS.Timeout | null = null;
  let late: PromiseWithResolvers<void> | null = null;

  function signal(): AbortSignal {
    controller ??= new AbortController();
    return controller.signal;
  }

  function lateness(): Promise<void> {
    if (late === null) {
      const timeout = Promise.withResolvers<void>();
      late = timeout;
      timer = setTimeout(() => {
        timeout.resolve();
        controller?.abort();
      }, timeoutMs);
    }
    return late.promise;
  }

  return {
    chain,
    head: null as Promise<PinnedHead> | null,
    get signal() {
      return signal();
    },
    withinTime: (value, lateValue) => Promise.race([value, lateness().then(() => lateValue)]),
    abort() {
      controller?.abort();
    },
    end() {
      if (timer !== null) clearTimeout(timer);
    },
  };
}
