import type { RecentCalls } from '@chainstead/sync/ingest';
import { cut } from './html.ts';
import { plainCount } from './numbers.ts';

export function sumOfTimes(calls: readonly Pick<RecentCalls, 'latency'>[]): number[] {
  const sum: number[] = [];
  for (const { latency } of calls)
    for (const [place, answers] of latency.entries()) sum[place] = (sum[place] ?? 0) + answers;
  return sum;
}

/** Most frequent first. Errors of the call itself don't count. */
export function faultsOf(calls: readonly Pick<RecentCalls, 'outcome' | 'calls'>[]): ReadonlyMap<string, number> {
  const faults = new Map<string, number>();
  for (const { outcome, calls: times } of calls)
    if (outcome !== 'ok' && outcome !== 'error' && times > 0)
      faults.set(outcome, (faults.get(outcome) ?? 0) + times);
  return new Map([...faults].toSorted(([, one], [, other]) => other - one));
}

const KINDS_SHOWN = 4;

export function kindsText(faults: ReadonlyMap<string, number>): string {
  const kinds = [...faults].slice(0, KINDS_SHOWN).map(([kind, times]) => `${cut(kind, 40)} ${plainCount(times)}`);
  return [...kinds, ...(faults.size > KINDS_SHOWN ? ['…'] : [])].join(', ');
}
