import type { Chain } from '@chainstead/chains';
import { type Clock, errorText, type Logger, waitLeft } from '@chainstead/core';
import { type Database, DatabaseUnavailableError } from '@chainstead/db';
import { RateLimitedError, spendNodeCalls } from '@chainstead/http';
import { createSettledWatch, notifyDue } from '@chainstead/jobs';
import { StateNotArchivedError, StateReadingFailedError, StateUnavailableError } from '../state-error.ts';
import type { StateKind } from '../state-kind.ts';
import {
  DATABASE_AWAY,
  isUnanswered,
  knownQuestion,
  leaveQuestion,
  questionKey,
  type RequestedQuestion,
  type Settlement,
  STATE_WORK,
  settledQuestions,
  UNEXPECTED,
} from './question-rows.ts';

export interface AskOptions {
  /** Shares a younger result of the same question. @default 0: only a running one */
  readonly maxAgeMs?: number;
  /**
   * Shares a younger error or fruitless result; skips a wait that can only fail. @default 0: neither
   */
  readonly fruitlessMs?: number;
}

export interface NodeReadQueue {
  /**
   * Waits as long as the request may. A new question counts for the key of the request. Null: no
   * result in time, no worker, or no calls left for a result that may be missing.
   * @throws RateLimitedError (429), StateUnavailableError (503), StateNotArchivedError (404),
   * DatabaseUnavailableError (503), StateReadingFailedError (500)
   */
  request<Question, Answer>(
    chain: Chain,
    kind: StateKind<Question, Answer>,
    question: Question,
    options?: AskOptions,
  ): Promise<Answer | null>;
}

export interface NodeReadQueueOptions {
  readonly database: Database;
  readonly chains: readonly Chain[];
  readonly clock: Clock;
  readonly logger: Logger;
}

export function createNodeReadQueue(options: NodeReadQueueOptions): NodeReadQueue {
  const { database, logger } = options;
  const served = new Set(options.chains.map(({ id }) => id));
  const settled = createSettledWatch({
    ...options,
    read: (questions: readonly RequestedQuestion[]) => settledQuestions(database, questions),
  });
  const vain = createTimeoutMemory(database);

  /** Not awaited: the worker also finds the row without a notification. */
  function wakeWorker(chain: Chain, kind: StateKind): void {
    const work = kind.isSlow === true ? STATE_WORK.slow : STATE_WORK.quick;
    notifyDue(database, work, chain.id).catch((error: unknown) =>
      logger.warn({ chain: chain.key, kind: kind.name, error: errorText(error) }, 'Workers were not notified'),
    );
  }

  return {
    async request(chain, kind, question, { maxAgeMs = 0, fruitlessMs = 0 } = {}) {
      if (!served.has(chain.id)) return null;
      const parsed = kind.question.parse(question);
      const key = questionKey(kind, parsed);
      const stored = await knownQuestion(database, chain.id, key, Math.max(maxAgeMs, fruitlessMs));
      const recent = stored === 'unsettled' ? null : stored;
      if (recent !== null && isShared(kind, recent, { maxAgeMs, fruitlessMs }))
        return kind.answer.parse(answerOf(chain, recent.settlement));
      const refusedMs = stored === 'unsettled' ? 0 : await spendNodeCalls(kind.callsOf?.(parsed) ?? 1);
      if (refusedMs > 0) {
        if (waitLeft() === 0 || fruitlessMs > 0) return null;
        throw new RateLimitedError(Math.max(1, Math.ceil(refusedMs / 1_000)));
      }
      const left = await leaveQuestion(database, chain.id, { key, kind: kind.name, question: parsed }, maxAgeMs);
      const requested = { chainId: chain.id, key, lastRequestedAt: left.lastRequestedAt };
      if (left.settlement === null) wakeWorker(chain, kind);
      const likeness = fruitlessMs > 0 ? kind.failsAlike?.(parsed) : undefined;
      const group = likeness === undefined ? null : `${chain.id} ${kind.name} ${likeness}`;
      const isVain = group !== null && (await vain.has(group, fruitlessMs));
      const patienceMs = isVain ? 0 : waitLeft() - (fruitlessMs > 0 ? left.ageMs : 0);
      const settlement = left.settlement ?? (await settled(requested, patienceMs));
      const isUnreported = settlement === null || settlement.errorCode !== null;
      if (group !== null && isUnreported && patienceMs > 0) vain.note(group, requested);
      return settlement === null ? null : kind.answer.parse(answerOf(chain, settlement));
    },
  };
}

function isShared<Answer>(
  kind: StateKind<unknown, Answer>,
  { settlement, ageMs }: { readonly settlement: Settlement; readonly ageMs: number },
  { maxAgeMs, fruitlessMs }: { readonly maxAgeMs: number; readonly fruitlessMs: number },
): boolean {
  if (settlement.errorCode !== null) return ageMs < fruitlessMs;
  if (ageMs < maxAgeMs) return true;
  return ageMs < fruitlessMs && kind.isFruitless?.(kind.answer.parse(settlement.answer)) === true;
}

/** @throws the errors of {@link NodeReadQueue.request} */
function answerOf(chain: Chain, { answer, errorCode, errorMessage }: Settlement): unknown {
  if (errorCode === null) return answer;
  if (errorCode === DATABASE_AWAY)
    throw new DatabaseUnavailableError('was unavailable to a worker', null, errorMessage);
  if (errorCode === UNEXPECTED) throw new StateReadingFailedError(chain.key);
  const message = errorMessage ?? 'The nodes of the chain returned no response';
  throw errorCode === 'STATE_NOT_ARCHIVED'
    ? new StateNotArchivedError(message)
    : new StateUnavailableError(message);
}

/** A few hundred bytes each. */
const GROUPS_MAX = 10_000;

/** A process does not wait for questions that would fail alike. */
function createTimeoutMemory(database: Database) {
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
