import type { UpstreamFault } from '../errors.ts';
import type { Upstream } from '../upstream/upstream.ts';
import type { RequestOptions } from '../upstream-pool.ts';

export interface UpstreamOperation<T> {
  readonly method: string;
  /** Fetches and checks. A fault moves on to the next upstream. */
  run(upstream: Upstream, signal: AbortSignal | undefined): Promise<T>;
  /** A second upstream may start if the first is far slower than usual. */
  readonly isRepeatable?: boolean;
  /** Suitability apart from health, 0 to 1. */
  readonly fitness?: (upstream: Upstream) => number;
  /** The value still streams: an abort must reach it. */
  readonly isOpen?: (value: T) => boolean;
  /** A failed round is final. `unrequested`: in use, but unavailable. */
  readonly settled?: (faults: readonly UpstreamFault[], unrequested: readonly Upstream[]) => boolean;
}

export type Choosable = Pick<UpstreamOperation<unknown>, 'method' | 'fitness'>;

export interface Requested {
  readonly reasons: Map<string, string>;
  readonly tried: ReadonlySet<string>;
}

export interface UpstreamChoice {
  allowed(given: RequestOptions, reasons: Map<string, string>): Upstream[];
  next(operation: Choosable, given: RequestOptions, requested: Requested): Upstream | undefined;
}

export function createUpstreamChoice(options: {
  readonly upstreams: readonly Upstream[];
  readonly bestHead: () => number | null;
}): UpstreamChoice {
  const { upstreams, bestHead } = options;
  return {
    allowed: (given, reasons) => upstreams.filter((upstream) => isAllowed(upstream, given, reasons)),
    next(operation, given, { reasons, tried }) {
      let best: Upstream | undefined;
      let bestValue = -1;
      let isBestServing = false;
      let isServed = false;
      for (const upstream of upstreams) {
        if (!isAllowed(upstream, given, reasons) || tried.has(upstream.name)) continue;
        const isServing = !upstream.state.lacks(operation.method);
        isServed ||= isServing;
        // "Unsupported" counts only while another upstream is left to try.
        if (!isServing && (isServed || tried.size > 0)) continue;
        if (upstream.state.waitMs() !== 0) {
          reasons.set(upstream.name, upstream.state.obstacle);
          continue;
        }
        if (upstreams.length === 1 || (given.sticky === true && isServing)) return upstream;
        const value =
          (upstream.state.score(bestHead()) * (operation.fitness?.(upstream) ?? 1)) / (1 + upstream.load);
        if (value > bestValue || (isServing && !isBestServing)) {
          best = upstream;
          bestValue = value;
          isBestServing = isServing;
        }
      }
      return isServed && !isBestServing ? undefined : best;
    },
  };
}

function isAllowed({ name, state }: Upstream, given: RequestOptions, reasons: Map<string, string>): boolean {
  if (given.only !== undefined && given.only !== name) return false;
  if (given.exclude?.has(name)) reasons.set(name, 'excluded by the caller');
  else if (state.disabledReason !== null) reasons.set(name, state.disabledReason);
  else return true;
  return false;
}
