import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import type { AuditActor } from '@chainstead/http';
import type { StreamBounds } from './records/stream-bounds.ts';
import type { Stream, StreamConfig } from './stream.ts';

/**
 * What came of the mandatory test webhook (docs/provider-contract.md#test-webhook). `unreachable`: no 2xx answer, whatever the cause.
 * `too-many`: not sent, too many were asked for lately. `not-allowed`: not sent, the URL leads to an address that is not public.
 */
export type WebhookTest =
  | { readonly ok: true }
  | { readonly ok: false; readonly reason: 'unreachable' | 'too-many' }
  /** `range`: which kind of address it is. */
  | { readonly ok: false; readonly reason: 'not-allowed'; readonly range: string };

/** Sends the test webhook to the stream's URL, before the stream starts. Never throws for what the receiver does. */
export type TestWebhook = (stream: StreamConfig, requestedBy: string) => Promise<WebhookTest>;

/** Sends what a failed attempt carried once more. False when its body is no longer kept. @throws TooManyReplaysError */
export type ReplayAttempt = (attempt: {
  readonly streamId: string;
  readonly attemptId: string;
  /** Whose key asks: it is counted for it, and written down. */
  readonly by: AuditActor;
}) => Promise<boolean>;

/** `body`: the webhook that the block causes, null when nothing matches. */
export type BlockPreview =
  | { readonly found: false }
  | { readonly found: true; readonly body: Readonly<Record<string, unknown>> | null };

/** What a configuration that is not stored would send of a block. Nothing is sent or kept. */
export type PreviewBlock = (request: {
  readonly chain: Chain;
  readonly blockNumber: number;
  readonly config: StreamConfig;
  /** Lower case, each once; null: those of the stored stream. */
  readonly addresses: readonly Address[] | null;
  /** Of the stream that would have this configuration. Default: none has it yet, and the webhook tells none. */
  readonly streamId?: string;
}) => Promise<BlockPreview>;

/** Matches a block with a stored stream as it is now, and delivers what matched. False when there is no such block yet. @throws TooManyReplaysError */
export type SendBlock = (request: {
  readonly chain: Chain;
  readonly blockNumber: number;
  readonly stream: Stream;
  /** Whose key asks: it is counted for it, and written down. */
  readonly by: AuditActor;
}) => Promise<boolean>;

/** Both ends inclusive. Timestamps in Unix seconds. */
export type HistoricalRange =
  | { readonly fromBlock: number; readonly toBlock: number }
  | { readonly fromTimestamp: number; readonly toTimestamp: number };

export interface HistoricalJobRequest {
  readonly stream: Stream;
  readonly chain: Chain;
  readonly range: HistoricalRange;
  /** Instead of the stream's own; null: the stream's. Lower case, each once. */
  readonly addresses: readonly Address[] | null;
  /** Whose key asks: it is counted for it, and written down. */
  readonly by: AuditActor;
}

/** A job that was accepted. */
export interface AcceptedJob {
  /** UUID. */
  readonly id: string;
  readonly totalBlocks: number;
  /** Parts that the range is worked off in. */
  readonly totalJobs: number;
}

/**
 * Replays a stream over past blocks. Null when the range has no block.
 * @throws TooManyJobsError, RangeTooLongError
 */
export type CreateHistoricalJob = (request: HistoricalJobRequest) => Promise<AcceptedJob | null>;

/** Whether nodes of the chain give traces, without which there are no internal transactions. True while nobody knows. */
export type OffersTraces = (chain: Chain) => Promise<boolean>;

/** What the routes have done by others: everything that leaves the database. */
export interface StreamServices {
  /** The chains that are followed here: on others no stream would ever fire. */
  readonly chains: readonly Chain[];
  /** What one key may have. Default: `DEFAULT_BOUNDS`. */
  readonly bounds?: StreamBounds;
  readonly offersTraces: OffersTraces;
  readonly testWebhook: TestWebhook;
  readonly replayAttempt: ReplayAttempt;
  readonly previewBlock: PreviewBlock;
  readonly sendBlock: SendBlock;
  readonly createHistoricalJob: CreateHistoricalJob;
}
