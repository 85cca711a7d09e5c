import type { ChainId, Hash } from '@chainstead/core';

/** A new match, the same with enough confirmations, or the removal of its block. */
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
  /** Null: no longer stored. */
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
  /** Null before the first attempt. Not in `delivery`: retained texts would dominate GC. */
  readonly matchBody: string | null;
  /** Length of a text above `LONG_BODY_LENGTH`, read only when it is sent; else 0. Characters. */
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
  /** UUID. Recording it again has no effect. */
  readonly id: string;
  readonly delivery: Delivery;
  /** Exact text sent; null: delivered, and `finishBody` of the match. */
  readonly body: string | null;
  readonly outcome: AttemptOutcome;
  readonly finishedAt: Date;
}

/** `repeated`: already delivered, or another attempt was recorded first. */
export type DeliveryVerdict = 'delivered' | 'retrying' | 'gave-up' | 'repeated';
