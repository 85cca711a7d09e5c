import type { Clock } from '@chainstead/core';
import type { CallPace, CallTurns } from './call-turns.ts';
import { createLeasedPace, type LeasedPace } from './leased-pace.ts';
import { createRateArbiter } from './rate-arbiter.ts';

/** The limits of one process: a rate for each upstream, for all pools that are made with it; requests in flight are bounded by each pool. */
export function createLocalTurns(clock: Pick<Clock, 'now'>): CallTurns {
  const paces = new Map<string, CallPace>();
  return {
    paceOf({ url, requestsPerSecond }) {
      if (requestsPerSecond === undefined) return null;
      const known = paces.get(url);
      if (known !== undefined) return known;
      const arbiter = createRateArbiter(requestsPerSecond, clock);
      const member = arbiter.join({ group: '', grant: (calls) => pace.granted(calls) });
      const pace: LeasedPace = createLeasedPace({ ratePerSecond: requestsPerSecond, member, clock });
      paces.set(url, pace);
      return pace;
    },
    slotsOf: () => null,
  };
}
