import type { ChainId, Hash } from '@chainstead/core';

/** Content of a webhook: a new match, the same match once it has enough confirmations, or the removal of its block. */
export type DeliveryKind = 'unconfirmed' | 'confirmed' | 'removed';

export interface MatchKey {
  readonly chainId: ChainId;
  readonly blockNumber: number;
  readonly blockHash: Hash;
  readonly streamId: string;
}

export interface Delivery extends MatchKey {
  readonly id: string;
  readonly kind: DeliveryKind;
  readonly retries: number;
  readonly webhookUrl: string;
  readonly tag: string;
  readonly createdAt: Date;
  /** A body to send again unchanged; null: built from the match. */
  readonly resend: string | null;
  /** Null if the match is no longer stored. */
  readonly match: DeliveredMatch | null;
}

export interface DeliveredMatch {
  readonly logs: number;
  readonly txs: number;
  readonly txsInternal: number;
  readonly isRemoved: boolean;
}

export interface DueDelivery {
  readonly delivery: Delivery;
  /**
   * Body of the match, without `confirmed` and `retries`; null before the first attempt. Not part of `delivery`, which
   * lives until its attempt is recorded: retaining these texts would dominate the cost of garbage collection.
   */
  readonly matchBody: string | null;
  /**
   * Length of a text above `LONG_BODY_LENGTH`, which is not read with the webhook but when it is sent; else 0. Such a
   * resent text is empty in `delivery` until then. Characters.
   */
  readonly longLength: number;
}

export function recordsOf({ match }: Delivery): number {
  return match === null ? 0 : match.logs + match.txs + match.txsInternal;
}

export interface AttemptOutcome {
  readonly success: boolean;
  readonly httpStatus: number | null;
  readonly errorMessage: string | null;
  readonly durationMs: number;
  readonly retryAfter?: string;
  readonly answer?: string;
  readonly blockedRange?: string;
}

export interface Attempt {
  /** UUID. Recording the same id twice has no further effect. */
  readonly id: string;
  readonly delivery: Delivery;
  /** The exact text sent; null if it was delivered and is the `finishBody` result for the match. */
  readonly body: string | null;
  readonly outcome: AttemptOutcome;
  readonly finishedAt: Date;
}

/** Effect of an attempt on its webhook. `repeated`: it was already delivered, or another attempt was recorded first. */
export type Verdict = 'delivered' | 'retrying' | 'gave-up' | 'repeated';
