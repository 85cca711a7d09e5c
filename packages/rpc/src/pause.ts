import { backOffMs } from './back-off.ts';
import type { UpstreamFault } from './errors.ts';

/** Waiting times that an upstream asked for. Times in epoch milliseconds. */
export interface Pause {
  readonly until: number;
  readonly reason: string;
  /** The upstream throttled a call or said that its budget is used up. */
  begin(fault: UpstreamFault, now: number): void;
  /** It answered: once a pause is over, the next begins small again. */
  answered(now: number): void;
}

const THROTTLE_BASE_MS = 500;
const THROTTLE_MAX_MS = 60_000;
const BUDGET_BASE_MS = 60_000;
/** Also the most that a Retry-After is believed. */
const BUDGET_MAX_MS = 3_600_000;

/** No pause at first. */
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
      // A burst in flight is answered with many throttles at once: one pause for all of them.
      if (now < until) return;
      const told = fault.hints.retryAfterMs ?? 0;
      if (fault.hints.reaction === 'out-of-budget') {
        reason = `out of budget: ${fault.text}`;
        until = now + Math.max(told, backOffMs(refusals++, BUDGET_BASE_MS, BUDGET_MAX_MS, 1));
      } else {
        reason = `throttled: ${fault.text}`;
        until = now + (told > 0 ? told : backOffMs(throttles++, THROTTLE_BASE_MS, THROTTLE_MAX_MS, Math.random()));
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
