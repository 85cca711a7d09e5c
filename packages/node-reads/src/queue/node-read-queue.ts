import type { Chain } from '@chainstead/chains';
import { type Clock, errorText, type Logger } from '@chainstead/core';
import { type Database, DatabaseUnavailableError } from '@chainstead/db';
import { RateLimitedError, spendNodeCalls } from '@chainstead/http';
import { notifyDue } from '@chainstead/jobs';
import { StateNotArchivedError, StateReadingFailedError, StateUnavailableError } from '../state-error.ts';
import type { StateKind } from '../state-kind.ts';
import { knownQuestion, leaveQuestion, questionKey, type Settlement, STATE_WORK } from './question-rows.ts';
import { createSettledWatch } from './settled-watch.ts';
import { DATABASE_AWAY, UNEXPECTED } from './settlement-error.ts';
import { createTimeoutMemory } from './timeout-memory.ts';

/** How a question is asked. */
export interface AskOptions {
  /** How long to wait for the result. The reading continues after that. Milliseconds. */
  readonly waitMs: number;
  /** Shares the result of the same question that is younger than this. Milliseconds. @default 0: only a running one */
  readonly maxAgeMs?: number;
  /**
   * Shares a useless result of the same question that is younger than this: an error, or a fruitless one. Does not wait for a question that
   * was queued longer than `waitMs` ago and has no result since. After one timeout of this process, no other question that fails alike
   * is waited for until that one has a result. Milliseconds. @default 0: none of that
   */
  readonly fruitlessMs?: number;
}

/**
 * `fruitlessMs` of results that responses can do without: nodes that timed out are skipped for so long, and a failed question is not queued
 * again. Seconds, since a block that was reorganised away while it was read at is such a failure too. Milliseconds.
 */
export const SILENCE_MS = 10_000;

/** What API routes ask the nodes of chains, by way of the worker role. */
export interface NodeReadQueue {
  /**
   * Leaves the question and waits for its answer. A question that no other request has left counts for the key of the request.
   * @returns null when it did not come in time, or no worker serves the chain
   * @throws RateLimitedError (429) if the key has spent its node calls. Null instead if no request waits, or the response can do without it
   * @throws StateUnavailableError (503) if the nodes gave the worker no result. StateNotArchivedError (404) if no upstream has the state
   * of that block. DatabaseUnavailableError (503) if the worker's database was unavailable. StateReadingFailedError (500) for any other fault of the worker
   */
  request<Question, Answer>(
    chain: Chain,
    kind: StateKind<Question, Answer>,
    question: Question,
    options: AskOptions,
  ): Promise<Answer | null>;
}

export interface NodeReadQueueOptions {
  /** For more than one request: the rows of all that wait are looked at together. */
  readonly database: Database;
  /** The chains that workers serve. */
  readonly chains: readonly Chain[];
  readonly clock: Clock;
  readonly logger: Logger;
}

/** One for all routes of a process: those who wait are looked after together. */
export function createNodeReadQueue(options: NodeReadQueueOptions): NodeReadQueue {
  const { database, logger } = options;
  const served = new Set(options.chains.map(({ id }) => id));
  const watch = createSettledWatch(options);
  const vain = createTimeoutMemory(database);

  /** By all waiting requests, in case an earlier notification was lost. Not waited for: the row is found without it, too. */
  function wakeWorker(chain: Chain, kind: StateKind): void {
    const work = kind.isSlow === true ? STATE_WORK.slow : STATE_WORK.quick;
    notifyDue(database, work, chain.id).catch((error: unknown) =>
      logger.warn({ chain: chain.key, kind: kind.name, error: errorText(error) }, 'Workers were not notified'),
    );
  }

  return {
    async request(chain, kind, question, { waitMs, maxAgeMs = 0, fruitlessMs = 0 }) {
      if (!served.has(chain.id)) return null;
      const parsed = kind.question.parse(question);
      const key = questionKey(kind, parsed);
      const known = await knownQuestion(database, chain.id, key, Math.max(maxAgeMs, fruitlessMs));
      const recent = known === 'unsettled' ? null : known;
      if (recent !== null && isShared(kind, recent, { maxAgeMs, fruitlessMs }))
        return kind.answer.parse(answerOf(chain, recent.settlement));
      const refusedMs = known === 'unsettled' ? 0 : await spendNodeCalls(kind.callsOf?.(parsed) ?? 1);
      if (refusedMs > 0) {
        if (waitMs === 0 || fruitlessMs > 0) return null;
        throw new RateLimitedError(Math.max(1, Math.ceil(refusedMs / 1_000)));
      }
      const left = await leaveQuestion(database, chain.id, { key, kind: kind.name, question: parsed }, maxAgeMs);
      const requested = { chainId: chain.id, key, lastRequestedAt: left.lastRequestedAt };
      if (left.settlement === null) wakeWorker(chain, kind);
      const group = fruitlessMs > 0 ? groupOf(chain, kind, parsed) : null;
      const isVain = group !== null && (await vain.has(group, fruitlessMs));
      const patienceMs = isVain ? 0 : fruitlessMs > 0 ? waitMs - left.ageMs : waitMs;
      const settlement = left.settlement ?? (await watch.wait(requested, patienceMs));
      const isUnreported = settlement === null || settlement.errorCode !== null;
      if (group !== null && isUnreported && patienceMs > 0) vain.note(group, requested);
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
  const message = errorMessage ?? 'The nodes of the chain returned no response';
  throw errorCode === 'STATE_NOT_ARCHIVED' ? new StateNotArchivedError(message) : new StateUnavailableError(message);
}
