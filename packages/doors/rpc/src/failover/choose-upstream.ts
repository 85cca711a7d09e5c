import type { UpstreamFault } from '../errors.ts';
import type { Upstream } from '../upstream/upstream.ts';
import type { RequestOptions } from '../upstream-pool.ts';

export interface UpstreamOperation<T> {
  readonly method: string;
  /** Fetches and checks the value. A fault thrown here moves the operation to the next upstream. */
  run(upstream: Upstream, signal: AbortSignal | undefined): Promise<T>;
  /** Whether two upstreams may run it concurrently. The second starts if the first is far slower than usual. */
  readonly isRepeatable?: boolean;
  /** How well an upstream suits the operation apart from its health, 0 to 1. */
  readonly fitness?: (upstream: Upstream) => number;
  /** Whether the value is still streaming, so that an abort must still reach it. */
  readonly isOpen?: (value: T) => boolean;
  /** Whether a failed round is final, without further rounds. `unrequested`: upstreams in use that were unavailable. */
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

/** @param options.bestHead highest known head, the reference for lag */
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
        // The mark "does not support this method" counts only while another upstream is left to try.
        if (!isServing && (isServed || tried.size > 0)) continue;
        if (upstream.state.waitMs() !== 0) {
          reasons.set(upstream.name, upstream.state.obstacle);
          continue;
        }
        if (upstreams.length === 1 || (given.sticky === true && isServing)) return upstream;
        const value = (upstream.state.score(bestHead()) * (operation.fitness?.(upstream) ?? 1)) / (1 + upstream.load);
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
