import type { Chain } from '@chainstead/chains';
import { type Clock, errorText, type Logger } from '@chainstead/core';
import { type Database, DatabaseUnavailableError } from '@chainstead/db';
import type { JobQueue, Jobs } from '@chainstead/jobs';
import { openStateQueue, questionJobId, questionKey, type StateJob, type StatePace } from './question-queue.ts';
import { type AskedQuestion, leaveQuestion, recentSettlement, type Settlement } from './question-rows.ts';
import { createSettledWatch } from './settled-watch.ts';
import { DATABASE_AWAY, UNEXPECTED } from './settlement-error.ts';
import { StateNotArchivedError, StateReadingFailedError, StateUnavailableError } from './state-error.ts';
import type { StateKind } from './state-kind.ts';
import { createVainWaits } from './vain-waits.ts';

/** How a question is asked. */
export interface AskOptions {
  /** How long its answer is waited for. The reading goes on after that. Milliseconds. */
  readonly waitMs: number;
  /** Shares the answer of the same question that is younger than this. Milliseconds. @default 0: only one that is under way */
  readonly maxAgeMs?: number;
  /**
   * Shares what came of the same question to no purpose, when that is younger than this: an error, or an answer that is fruitless. And one that
   * somebody left longer ago than `waitMs`, and nobody has answered since, is not waited for; nor is, where this process waited for one that fails
   * alike, any other of them until that one is answered. Milliseconds. @default 0: none of that
   */
  readonly fruitlessMs?: number;
}

/**
 * `fruitlessMs` of what answers can do without: so long nodes that told nothing in time are not waited for again, and a question that failed is not asked
 * again. Seconds, since a block that was reorganised away while it was read at is such a failure too. Milliseconds.
 */
export const SILENCE_MS = 10_000;

/** What API routes ask the nodes of chains, by way of the worker role. */
export interface StateQuestions {
  /**
   * Leaves the question and waits for its answer.
   * @returns null when it did not come in time, or no worker serves the chain
   * @throws StateUnavailableError (503) when the nodes gave the worker no answer, StateNotArchivedError (404) when no upstream has the state
   * of that block, DatabaseUnavailableError (503) when the worker's database was away, StateReadingFailedError (500) for any other fault of its own
   */
  ask<Question, Answer>(
    chain: Chain,
    kind: StateKind<Question, Answer>,
    question: Question,
    options: AskOptions,
  ): Promise<Answer | null>;
}

export interface StateQuestionsOptions {
  /** For more than one request: the rows of all that wait are looked at together. */
  readonly database: Database;
  readonly jobs: Jobs;
  /** The chains that workers serve. */
  readonly chains: readonly Chain[];
  readonly clock: Clock;
  readonly logger: Logger;
  /** After one to three times this, what a dead worker had in hand is put back. The worker's own. @default 5,000 ms */
  readonly lockMs?: number;
}

/** One for all routes of a process: a queue is opened once. */
export function createStateQuestions(options: StateQuestionsOptions): StateQuestions {
  const { database, jobs, logger } = options;
  const served = new Set(options.chains.map(({ id }) => id));
  const queues = new Map<string, JobQueue<StateJob>>();
  const watch = createSettledWatch(options);
  const vain = createVainWaits(database);

  function queueOf(chain: Chain, pace: StatePace): JobQueue<StateJob> {
    const name = `${pace} ${chain.id}`;
    const queue = queues.get(name) ?? openStateQueue(jobs, chain, pace, options.lockMs);
    queues.set(name, queue);
    return queue;
  }

  /** By everybody who waits: while the job is there it does nothing, and one that was lost is made again. Not waited for: a queue may be away. */
  function addJob(chain: Chain, pace: StatePace, { key, askedAt }: AskedQuestion): void {
    queueOf(chain, pace)
      .add(questionJobId({ key, askedAt }), { kind: 'question', key, askedAt })
      .catch((error: unknown) =>
        logger.warn({ chain: chain.key, key, error: errorText(error) }, 'A question could not be given to the workers'),
      );
  }

  return {
    async ask(chain, kind, question, { waitMs, maxAgeMs = 0, fruitlessMs = 0 }) {
      if (!served.has(chain.id)) return null;
      const parsed = kind.question.parse(question);
      const key = questionKey(kind, parsed);
      const youngest = Math.max(maxAgeMs, fruitlessMs);
      const recent = youngest > 0 ? await recentSettlement(database, chain.id, key, youngest) : null;
      if (recent !== null && isShared(kind, recent, { maxAgeMs, fruitlessMs }))
        return kind.answer.parse(answerOf(chain, recent.settlement));
      const left = await leaveQuestion(database, chain.id, { key, kind: kind.name, question: parsed }, maxAgeMs);
      const asked = { chainId: chain.id, key, askedAt: left.askedAt };
      if (left.settlement === null) addJob(chain, kind.isSlow === true ? 'slow' : 'quick', asked);
      const group = fruitlessMs > 0 ? groupOf(chain, kind, parsed) : null;
      const isVain = group !== null && (await vain.has(group, fruitlessMs));
      const patienceMs = isVain ? 0 : fruitlessMs > 0 ? waitMs - left.ageMs : waitMs;
      const settlement = left.settlement ?? (await watch.wait(asked, patienceMs));
      const isUntold = settlement === null || settlement.errorCode !== null;
      if (group !== null && isUntold && patienceMs > 0) vain.note(group, asked);
      return settlement === null ? null : kind.answer.parse(answerOf(chain, settlement));
    },
  };
}

/** Whether what came of a question is for those too who ask it now. */
function isShared<Answer>(
  kind: StateKind<unknown, Answer>,
  { settlement, ageMs }: { readonly settlement: Settlement; readonly ageMs: number },
  { maxAgeMs, fruitlessMs }: { readonly maxAgeMs: number; readonly fruitlessMs: number },
): boolean {
  if (settlement.errorCode !== null) return ageMs < fruitlessMs;
  if (ageMs < maxAgeMs) return true;
  return ageMs < fruitlessMs && kind.isFruitless?.(kind.answer.parse(settlement.answer)) === true;
}

/** Names the questions that fail alike; null where each stands for itself. */
function groupOf<Question>(chain: Chain, kind: StateKind<Question>, question: Question): string | null {
  return kind.failsAlike === undefined ? null : `${chain.id} ${kind.name} ${kind.failsAlike(question)}`;
}

/** @throws StateUnavailableError, StateNotArchivedError, DatabaseUnavailableError, StateReadingFailedError */
function answerOf(chain: Chain, { answer, errorCode, errorMessage }: Settlement): unknown {
  if (errorCode === null) return answer;
  if (errorCode === DATABASE_AWAY)
    throw new DatabaseUnavailableError('was unavailable to a worker', null, errorMessage);
  if (errorCode === UNEXPECTED) throw new StateReadingFailedError(chain.key);
  const message = errorMessage ?? 'The nodes of the chain gave no answer';
  throw errorCode === 'STATE_NOT_ARCHIVED' ? new StateNotArchivedError(message) : new StateUnavailableError(message);
}
