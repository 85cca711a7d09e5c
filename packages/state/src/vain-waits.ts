import type { Database } from '@chainstead/db';
import { type AskedQuestion, isUnanswered } from './question-rows.ts';

/** What a process waited for in vain, so that questions which would fail alike are not waited for as well. */
export interface VainWaits {
  /** Whether one of the group was waited for in vain within `ms`, and still has no answer. */
  has(group: string, ms: number): Promise<boolean>;
  /** That one of the group was. */
  note(group: string, question: AskedQuestion): void;
}

/** Groups that are remembered: a few hundred bytes each. */
const GROUPS_MAX = 10_000;

export function createVainWaits(database: Database): VainWaits {
  const waits = new Map<string, { readonly question: AskedQuestion; readonly at: number }>();
  return {
    async has(group, ms) {
      const last = waits.get(group);
      if (last === undefined) return false;
      const isVain = performance.now() - last.at < ms && (await isUnanswered(database, last.question));
      if (!isVain && waits.get(group) === last) waits.delete(group);
      return isVain;
    },
    note(group, question) {
      if (waits.size >= GROUPS_MAX) waits.clear();
      waits.set(group, { question, at: performance.now() });
    },
  };
}
