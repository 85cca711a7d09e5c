import type { Database } from '@chainstead/db';
import { isUnanswered, type RequestedQuestion } from './question-rows.ts';

/** A few hundred bytes each. */
const GROUPS_MAX = 10_000;

/** A process does not wait for questions that would fail alike. */
export function createTimeoutMemory(database: Database) {
  const waits = new Map<string, { readonly question: RequestedQuestion; readonly at: number }>();
  return {
    async has(group: string, ms: number): Promise<boolean> {
      const last = waits.get(group);
      if (last === undefined) return false;
      const isVain = performance.now() - last.at < ms && (await isUnanswered(database, last.question));
      if (!isVain && waits.get(group) === last) waits.delete(group);
      return isVain;
    },
    note(group: string, question: RequestedQuestion): void {
      if (waits.size >= GROUPS_MAX) waits.clear();
      waits.set(group, { question, at: performance.now() });
    },
  };
}
