import type { ChainId, Hash } from '@chainstead/core';

/** What a webhook tells: a match at once, the same match once it is deep enough, or that its block left the chain. */
export type DeliveryKind = 'unconfirmed' | 'confirmed' | 'removed';

/** A block's match with a stream. */
export interface MatchKey {
  readonly chainId: ChainId;
  readonly blockNumber: number;
  readonly blockHash: Hash;
  readonly streamId: string;
}

/** A webhook of the outbox that this process has in hand to send. */
export interface Delivery extends MatchKey {
  /** The same on every attempt and replay. */
  readonly id: string;
  readonly kind: DeliveryKind;
  /** Attempts that failed before. */
  readonly retries: number;
  readonly webhookUrl: string;
  readonly tag: string;
  readonly createdAt: Date;
  /** A body that is to be sent once more as it was; null: it is made from the match. */
  readonly resend: string | null;
  /** Null where nothing is stored of it. */
  readonly match: DeliveredMatch | null;
}

export interface DeliveredMatch {
  readonly logs: number;
  readonly txs: number;
  readonly txsInternal: number;
  /** Its block left the canonical chain. */
  readonly isRemoved: boolean;
}

/** A webhook whose time has come. */
export interface DueDelivery {
  readonly delivery: Delivery;
  /**
   * Its match's body, without `confirmed` and `retries`; null before the first attempt. Beside the delivery, which is held until
   * its attempt is recorded: texts that are kept so long would be most of what garbage collections have to move.
   */
  readonly matchBody: string | null;
}

/** txs + logs + txsInternal. */
export function recordsOf({ match }: Delivery): number {
  return match === null ? 0 : match.logs + match.txs + match.txsInternal;
}

/** What came of an attempt. */
export interface AttemptOutcome {
  readonly success: boolean;
  /** Null where no answer came. */
  readonly httpStatus: number | null;
  /** Null for a success. */
  readonly errorMessage: string | null;
  readonly durationMs: number;
  /** The header `Retry-After` of a failure, as it came. */
  readonly retryAfter?: string;
  /** The beginning of what was answered, where that was asked for. */
  readonly answer?: string;
  /** Which kind of address it led to, where that one may not be reached. */
  readonly blockedRange?: string;
}

/** One attempt that was made, to be recorded. */
export interface Attempt {
  /** UUID. Recording it twice does nothing more. */
  readonly id: string;
  readonly delivery: Delivery;
  /** The exact text that was sent; null for what `finishBody` made of the match's, where it arrived. */
  readonly body: string | null;
  readonly outcome: AttemptOutcome;
  readonly finishedAt: Date;
}

/** What an attempt made of its webhook. `repeated`: it had arrived before, or another attempt came first. */
export type Verdict = 'delivered' | 'retrying' | 'gave-up' | 'repeated';
