import type { ChainId } from '@chainstead/core';
import type { Sql } from '@chainstead/db';
import type { StateKind } from '../state-kind.ts';
import { questionKey, recentAnswerTo } from './question-rows.ts';

/** A result that another statement reads along. */
export interface RecentAnswer<Answer> {
  /** A column of it; null where the question is to be asked. */
  readonly sql: Sql;
  /** @param column as the statement gave it. @returns null too for what another version of the program answered, in another shape */
  read(column: unknown): Answer | null;
}

/**
 * What a question was answered lately, as `NodeReadQueue.ask` shares it, for a statement that reads other things too.
 * @param chainId the chain's id, or SQL of it as the statement repeats it
 * @param maxAgeMs how old the answer may be, milliseconds
 */
export function recentAnswer<Question, Answer>(
  kind: StateKind<Question, Answer>,
  question: Question,
  chainId: ChainId | Sql,
  maxAgeMs: number,
): RecentAnswer<Answer> {
  return {
    sql: recentAnswerTo(chainId, questionKey(kind, kind.question.parse(question)), maxAgeMs),
    read: (column) => (column === null ? null : (kind.answer.safeParse(column).data ?? null)),
  };
}
