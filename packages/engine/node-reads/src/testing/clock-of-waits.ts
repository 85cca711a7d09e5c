import { type Clock, systemClock } from '@chainstead/core';

/** The machine's clock for requests, which counts their waits: so tests check that none waited without measuring time. */
export interface ClockOfWaits extends Clock {
  readonly waits: number;
}

/** Also passes between two reads of the awaited rows: less than any request waits. Milliseconds. */
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
