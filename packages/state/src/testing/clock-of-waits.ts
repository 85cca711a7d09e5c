import { type Clock, systemClock } from '@chainstead/core';

/** The machine's clock for those who ask, which knows how often they waited: so tests tell that nobody did without measuring time. */
export interface ClockOfWaits extends Clock {
  readonly waits: number;
}

/** Between two looks at what is waited for it passes as well: less than anybody waits. Milliseconds. */
const LOOK_MS_MAX = 50;

export function clockOfWaits(): ClockOfWaits {
  let waits = 0;
  return {
    ...systemClock,
    get waits() {
      return waits;
    },
    sleep(ms, signal) {
      if (ms > LOOK_MS_MAX) waits += 1;
      return systemClock.sleep(ms, signal);
    },
  };
}
