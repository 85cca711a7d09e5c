import type { UpstreamFault } from '../errors.ts';
import { backOffMs } from '../upstream-http/back-off.ts';

/** Epoch milliseconds, as the upstream requested. */
export interface Pause {
  readonly until: number;
  readonly reason: string;
  begin(fault: UpstreamFault, now: number): void;
  answered(now: number): void;
}

const THROTTLE_BASE_MS = 500;
const THROTTLE_MAX_MS = 60_000;
const BUDGET_BASE_MS = 60_000;
/** The limit for Retry-After, too. */
const BUDGET_MAX_MS = 3_600_000;

export function createPause(): Pause {
  let until = 0;
  let reason = '';
  let throttles = 0;
  let refusals = 0;
  return {
    get until() {
      return until;
    },
    get reason() {
      return reason;
    },
    begin(fault, now) {
      // A burst's throttles count as one.
      if (now < until) return;
      const reported = fault.hints.retryAfterMs ?? 0;
      if (fault.hints.reaction === 'out-of-budget') {
        reason = `out of budget: ${fault.text}`;
        until = now + Math.max(reported, backOffMs(refusals++, BUDGET_BASE_MS, BUDGET_MAX_MS, 1));
      } else {
        reason = `throttled: ${fault.text}`;
        until =
          now +
          (reported > 0 ? reported : backOffMs(throttles++, THROTTLE_BASE_MS, THROTTLE_MAX_MS, Math.random()));
      }
      until = Math.min(until, now + BUDGET_MAX_MS);
    },
    answered(now) {
      if (now < until) return;
      throttles = 0;
      refusals = 0;
    },
  };
}
