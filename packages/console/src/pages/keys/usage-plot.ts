import { totalsByKey, type UsageRow } from './join-usage.ts';

/** A plot as the page's script reads it. */
export interface UsagePlot {
  readonly labels: readonly string[];
  readonly unit: string;
  /** From and to when is shown, seconds since the epoch. */
  readonly range: readonly [from: number, to: number];
  /** Seconds since the epoch. */
  readonly times: readonly number[];
  /** By label, then by time. */
  readonly values: readonly (readonly number[])[];
}

const DAY_SECONDS = 86_400;

/** Requests of each day up to today (UTC), of the keys that ask most. @param keysMax as many */
export function usagePlot(
  usage: readonly UsageRow[],
  { keysMax, daysShown, today }: { readonly keysMax: number; readonly daysShown: number; readonly today: Date },
): UsagePlot {
  const labels = totalsByKey(usage)
    .slice(0, keysMax)
    .map(({ keyId }) => keyId);
  const days = usage.map(({ day }) => Date.parse(`${day}T00:00:00Z`) / 1_000);
  const last = Date.parse(`${today.toISOString().slice(0, 10)}T00:00:00Z`) / 1_000;
  const first = Math.min(last - (daysShown - 1) * DAY_SECONDS, ...days);
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
  return { labels, unit: 'requests', range: [first, last], times, values };
}
