import type { ChainId } from '@chainstead/core';
import type { Sql } from '@chainstead/db';
import type { StateKind } from '../state-kind.ts';
import { questionKey, recentAnswerTo } from './question-rows.ts';

/** The statement may read other things too. @param chainId a value or a column */
export function recentAnswer<Question, Answer>(
  kind: StateKind<Question, Answer>,
  question: Question,
  chainId: ChainId | Sql,
  maxAgeMs: number,
) {
  return {
    /** A column; null without a result. */
    sql: recentAnswerTo(chainId, questionKey(kind, kind.question.parse(question)), maxAgeMs),
    /** Null also for the shape of another version of the program. */
    read: (column: unknown): Answer | null =>
      column === null ? null : (kind.answer.safeParse(column).data ?? null),
  };
}
