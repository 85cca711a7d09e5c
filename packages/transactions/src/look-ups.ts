import type { Chain } from '@chainstead/chains';
import type { Clock } from '@chainstead/core';
import { ApiError, createOnDemandBudget, type OnDemandBounds, type OnDemandBudget } from '@chainstead/http';
import { type StateKind, type StateQuestions, StateUnavailableError } from '@chainstead/state';

export interface LookUpOptions extends OnDemandBounds {
  readonly questions: StateQuestions;
  /** How long a request waits for what is read (`INDEX_WAIT_MS`). Milliseconds. */
  readonly waitMs: number;
  readonly clock: Clock;
  /** Shared with other routes that have nodes asked. @default one of its own, within the bounds above */
  readonly budget?: OnDemandBudget;
}

/** What a look-up is for. */
export interface LookUp<Question, Answer> {
  readonly chain: Chain;
  readonly kind: StateKind<Question, Answer>;
  readonly question: Question;
  /** Whether an answer holds for good. Others are read again after a block's time. */
  isLasting(answer: Answer): boolean;
  /** Whose request it is. */
  readonly requester: string;
}

/** Has nodes asked for what is not indexed, by way of the worker role, and shares what they answered. */
export interface LookUps {
  /**
   * @throws NotIndexedHereError (400) where requests may cause no calls, RateLimitedError (429) where the key waits for too many, StateUnavailableError
   * (503) where no answer came in time, or none can be had
   */
  read<Question, Answer extends { readonly readAt: number }>(lookUp: LookUp<Question, Answer>): Promise<Answer>;
  /** Several at once, which count as one for the key: what a page is made of. @throws as `read`, for any of them */
  readAll<Question, Answer extends { readonly readAt: number }>(
    lookUps: readonly LookUp<Question, Answer>[],
  ): Promise<readonly Answer[]>;
}

/** As long as answers are kept. Milliseconds. */
const LASTING_MS = 600_000;
/** A block's time, within bounds: many ask for the newest block at once, and slow chains are no reason to wait. Milliseconds. */
const FRESH_MS = { min: 500, max: 12_000 } as const;

/** One for all routes of a process. */
export function createLookUps(options: LookUpOptions): LookUps {
  const { questions, clock, budget = createOnDemandBudget(options) } = options;

  async function ask<Question, Answer>(
    { chain, kind, question }: LookUp<Question, Answer>,
    maxAgeMs: number,
  ): Promise<Answer> {
    const answer = await questions.ask(chain, kind, question, { waitMs: options.waitMs, maxAgeMs });
    if (answer === null) throw new StateUnavailableError('being read from the node');
    return answer;
  }

  async function answerTo<Question, Answer extends { readonly readAt: number }>(
    lookUp: LookUp<Question, Answer>,
  ): Promise<Answer> {
    const answer = await ask(lookUp, LASTING_MS);
    const freshMs = Math.min(Math.max(lookUp.chain.blockTimeMs, FRESH_MS.min), FRESH_MS.max);
    if (lookUp.isLasting(answer) || clock.now() - answer.readAt < freshMs) return answer;
    return ask(lookUp, freshMs);
  }

  return {
    async read(lookUp) {
      if (!budget.mayCall) throw new NotIndexedHereError(lookUp.chain);
      return budget.run(lookUp.requester, () => answerTo(lookUp));
    },
    async readAll(lookUps) {
      const [first] = lookUps;
      if (first === undefined) return [];
      if (!budget.mayCall) throw new NotIndexedHereError(first.chain);
      return budget.run(first.requester, () => Promise.all(lookUps.map(answerTo)));
    },
  };
}

/** A 400: what was asked for is not indexed, and requests may not have it read. */
export class NotIndexedHereError extends ApiError {
  constructor({ key }: Pick<Chain, 'key'>) {
    super({
      code: 'TRANSACTIONS_NOT_INDEXED',
      status: 400,
      message: `transactions of ${key} are not indexed, and ON_DEMAND_MAX_CALLS=0 keeps requests from having them read from a node`,
      details: { reason: 'not-indexed', configuration_key: 'ON_DEMAND_MAX_CALLS' },
    });
  }
}
