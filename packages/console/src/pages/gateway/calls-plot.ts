import type { HourCalls } from '@chainstead/gateway';

const HOUR_SECONDS = 3_600;

/** Calls by the hour as the page's script draws them; hours without calls are 0. @param now milliseconds since the epoch */
export function callsPlot(byHour: readonly HourCalls[], hours: number, now: number) {
  const last = Math.floor(now / 1_000 / HOUR_SECONDS) * HOUR_SECONDS;
  const known = new Map(byHour.map((one) => [one.hour.getTime() / 1_000, one]));
  const times = Array.from({ length: hours }, (_, index) => last - (hours - 1 - index) * HOUR_SECONDS);
  const series = (of: 'calls' | 'cached' | 'errors'): number[] => times.map((at) => known.get(at)?.[of] ?? 0);
  return {
    labels: ['calls', 'without an upstream', 'errors'],
    unit: 'an hour',
    // A plot of one point would show nothing.
    range: [Math.min(last - HOUR_SECONDS, times[0] ?? last), last],
    times: byHour.length === 0 ? [] : times,
    values: byHour.length === 0 ? [[], [], []] : [series('calls'), series('cached'), series('errors')],
  };
}
