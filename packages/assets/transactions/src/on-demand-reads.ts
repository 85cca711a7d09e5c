import type { Chain } from '@chainstead/chains';
import type { Clock } from '@chainstead/core';
import { createOnDemandBudget, defineApiError, type OnDemandBounds, type OnDemandBudget } from '@chainstead/http';
import type { StateKind } from '@chainstead/node-reads';
import { type NodeReadQueue, StateUnavailableError } from '@chainstead/node-reads/requests';

export interface OnDemandReadsOptions extends OnDemandBounds {
  readonly nodeReads: NodeReadQueue;
  readonly clock: Clock;
  /** @default a separate one */
  readonly budget?: OnDemandBudget;
}

export interface OnDemandRead<Question, Answer> {
  readonly chain: Chain;
  readonly kind: StateKind<Question, Answer>;
  readonly question: Question;
  /** Permanent. Other results are read again after one block time. */
  isLasting(answer: Answer): boolean;
  readonly requester: string;
}

export interface OnDemandReads {
  /**
   * @throws NotIndexedHereError (400) if requests may cause no calls
   * @throws RateLimitedError (429) if the key has too many pending reads
   * @throws StateUnavailableError (503) without a result in time
   */
  read<Question, Answer extends { readonly readAt: number }>(
    wanted: OnDemandRead<Question, Answer>,
  ): Promise<Answer>;
  /** A page counts as one read for the key. @throws as `read` */
  readAll<Question, Answer extends { readonly readAt: number }>(
    onDemandReads: readonly OnDemandRead<Question, Answer>[],
  ): Promise<readonly Answer[]>;
}

export interface TracingRequest {
  readonly onDemandReads: OnDemandReads;
  readonly chain: Chain;
  readonly requester: string;
}

/** Milliseconds. */
const LASTING_MS = 600_000;
/** Milliseconds. Slow chains must not cause waits. */
const FRESH_MS = { min: 500, max: 12_000 } as const;

export function createOnDemandReads(options: OnDemandReadsOptions): OnDemandReads {
  const { nodeReads, clock, budget = createOnDemandBudget(options) } = options;

  async function ask<Question, Answer>(
    { chain, kind, question }: OnDemandRead<Question, Answer>,
    maxAgeMs: number,
  ) {
    const answer = await nodeReads.request(chain, kind, question, { maxAgeMs });
    if (answer === null) throw new StateUnavailableError('being read from the node');
    return answer;
  }

  async function answerTo<Question, Answer extends { readonly readAt: number }>(
    wanted: OnDemandRead<Question, Answer>,
  ): Promise<Answer> {
    const answer = await ask(wanted, LASTING_MS);
    const freshMs = Math.min(Math.max(wanted.chain.blockTimeMs, FRESH_MS.min), FRESH_MS.max);
    if (wanted.isLasting(answer) || clock.now() - answer.readAt < freshMs) return answer;
    return ask(wanted, freshMs);
  }

  return {
    async read(wanted) {
      if (!budget.mayCall) throw new NotIndexedHereError(wanted.chain);
      return budget.run(wanted.requester, () => answerTo(wanted));
    },
    async readAll(onDemandReads) {
      const [first] = onDemandReads;
      if (first === undefined) return [];
      if (!budget.mayCall) throw new NotIndexedHereError(first.chain);
      return budget.run(first.requester, () => Promise.all(onDemandReads.map(answerTo)));
    },
  };
}

export class NotIndexedHereError extends defineApiError(
  'TRANSACTIONS_NOT_INDEXED',
  ({ key }: Pick<Chain, 'key'>) => ({
    status: 400,
    message: `transactions of ${key} are not indexed, and ON_DEMAND_MAX_CALLS=0 prevents requests from reading them from a node`,
    details: { reason: 'not-indexed', configuration_key: 'ON_DEMAND_MAX_CALLS' },
  }),
) {}
