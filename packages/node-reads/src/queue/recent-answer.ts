import type { Bind } from '@chainstead/db';
import type { StateKind } from '../state-kind.ts';
import { questionKey, recentAnswerInSql } from './question-rows.ts';

/** A result that another statement reads along. */
export interface RecentAnswer<Answer> {
  /** A column of it; null where the question is to be asked. */
  readonly sql: string;
  /** @param column as the statement gave it. @returns null too for what another version of the program answered, in another shape */
  read(column: unknown): Answer | null;
}

/**
 * What a question was answered lately, as `NodeReadQueue.ask` shares it, for a statement that reads other things too.
 * @param of where: `chainId` in SQL; `maxAgeMs`: how old it may be, milliseconds
 */
export function recentAnswer<Question, Answer>(
  kind: StateKind<Question, Answer>,
  question: Question,
  { chainId, maxAgeMs }: { readonly chainId: string; readonly maxAgeMs: number },
  bind: Bind,
): RecentAnswer<Answer> {
  const key = questionKey(kind, kind.question.parse(question));
  return {
    sql: recentAnswerInSql({ chainId, key: bind(key), seconds: bind(maxAgeMs / 1_000) }),
    read: (column) => (column === null ? null : (kind.answer.safeParse(column).data ?? null)),
  };
}
