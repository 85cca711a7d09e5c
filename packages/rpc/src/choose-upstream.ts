import type { Operation } from './failover.ts';
import type { Upstream } from './upstream.ts';
import type { RequestOptions } from './upstream-pool.ts';

/** Whom a run has asked already, and why others were not. */
export interface Asked {
  /** By upstream; `next` adds to it. */
  readonly reasons: Map<string, string>;
  readonly tried: ReadonlySet<string>;
}

/** Which upstream is asked next. */
export interface UpstreamChoice {
  /** Those that the caller allows and that are in use. */
  allowed(given: RequestOptions, reasons: Map<string, string>): Upstream[];
  /** The best one that is available and was not tried; undefined where there is none. */
  next(
    operation: Pick<Operation<unknown>, 'method' | 'fitness'>,
    given: RequestOptions,
    asked: Asked,
  ): Upstream | undefined;
}

/** @param options.bestHead the highest head known, which lag is measured by */
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
        // A mark "does not serve this method" is believed only while somebody else is left to ask.
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

/** Whether the caller allows it and it is in use; else why not. */
function isAllowed({ name, state }: Upstream, given: RequestOptions, reasons: Map<string, string>): boolean {
  if (given.only !== undefined && given.only !== name) return false;
  if (given.exclude?.has(name)) reasons.set(name, 'excluded by the caller');
  else if (state.disabledReason !== null) reasons.set(name, state.disabledReason);
  else return true;
  return false;
}
