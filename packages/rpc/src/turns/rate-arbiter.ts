import type { Clock } from '@chainstead/core';
import type { JoinOptions, TurnArbiter } from './call-turns.ts';
import type { Claim } from './claims.ts';
import { createRateShares } from './rate-shares.ts';

/** While more is asked than may go, grants are told so often: at high rates many at a time. Milliseconds. */
const TICK_MS = 10;

/**
 * Grants calls to one upstream to all who make some, so that together they keep to its rate.
 * @param ratePerSecond calls a second; as many may go at once after a pause
 */
export function createRateArbiter(ratePerSecond: number, clock: Pick<Clock, 'now'>): TurnArbiter {
  const shares = createRateShares(ratePerSecond);
  const grants = new Map<Claim, JoinOptions['grant']>();
  let timer: NodeJS.Timeout | null = null;

  function share(): void {
    for (const [claim, calls] of shares.grant(clock.now())) grants.get(claim)?.(calls);
    const wait = shares.waitMs(clock.now());
    if (wait !== null && timer === null)
      timer = setTimeout(
        () => {
          timer = null;
          share();
        },
        Math.max(TICK_MS, wait),
      ).unref();
  }

  return {
    join({ group, grant }) {
      const claim: Claim = { group, asked: { urgent: 0, normal: 0, ahead: 0 } };
      shares.add(claim);
      grants.set(claim, grant);
      return {
        ask(calls, urgency) {
          claim.asked[urgency] = Math.max(0, claim.asked[urgency] + calls);
          if (calls > 0) share();
        },
        giveBack(calls) {
          shares.giveBack(calls, clock.now());
          share();
        },
        leave() {
          shares.remove(claim);
          grants.delete(claim);
        },
      };
    },
  };
}
