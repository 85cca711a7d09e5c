import { totalsByKey, type UsageRow } from './join-usage.ts';

/** A plot as the page's script reads it. */
export interface UsagePlot {
  readonly labels: readonly string[];
  readonly unit: string;
  /** Seconds since the epoch. */
  readonly times: readonly number[];
  /** By label, then by time. */
  readonly values: readonly (readonly number[])[];
}

const DAY_SECONDS = 86_400;

/** Requests by day, without gaps, of the keys that ask most. @param keysMax as many */
export function usagePlot(usage: readonly UsageRow[], keysMax: number): UsagePlot {
  const labels = totalsByKey(usage)
    .slice(0, keysMax)
    .map(({ keyId }) => keyId);
  const days = usage.map(({ day }) => Date.parse(`${day}T00:00:00Z`) / 1_000);
  const [first, last] = [Math.min(...days), Math.max(...days)];
  const times: number[] = [];
  if (days.length > 0) for (let at = first; at <= last; at += DAY_SECONDS) times.push(at);
  const values = labels.map((label) => {
    const byDay = new Map<number, number>();
    for (const [index, { keyId, requests }] of usage.entries()) {
      const at = days[index];
      if (keyId === label && at !== undefined) byDay.set(at, (byDay.get(at) ?? 0) + requests);
    }
    return times.map((at) => byDay.get(at) ?? 0);
  });
  return { labels, unit: 'requests', times, values };
}
