import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import type { AuditActor, ChainLookup } from '@chainstead/http';
import type { StreamBounds } from './records/stream-bounds.ts';
import type { Stream, StreamConfig } from './stream.ts';

/** `unreachable`: no 2xx. The others: not sent (limit, or non-public address). */
export type WebhookTest =
  | { readonly ok: true }
  | { readonly ok: false; readonly reason: 'unreachable' | 'too-many' }
  | { readonly ok: false; readonly reason: 'not-allowed'; readonly range: string };

export type TestWebhook = (stream: StreamConfig, requestedBy: string) => Promise<WebhookTest>;

/** False: the body is no longer stored. @throws TooManyReplaysError */
export type ReplayAttempt = (attempt: {
  readonly streamId: string;
  readonly attemptId: string;
  readonly by: AuditActor;
}) => Promise<boolean>;

export type BlockPreview =
  | { readonly found: false }
  | { readonly found: true; readonly body: Readonly<Record<string, unknown>> | null };

/** Sends and stores nothing. */
export type PreviewBlock = (request: {
  readonly chain: Chain;
  readonly blockNumber: number;
  readonly config: StreamConfig;
  /** Lower case, each once; null: those of the stored stream. */
  readonly addresses: readonly Address[] | null;
  readonly streamId?: string;
}) => Promise<BlockPreview>;

/** False: the block does not exist yet. @throws TooManyReplaysError */
export type SendBlock = (request: {
  readonly chain: Chain;
  readonly blockNumber: number;
  readonly stream: Stream;
  readonly by: AuditActor;
}) => Promise<boolean>;

/** Inclusive. Timestamps in Unix seconds. */
export type HistoricalRange =
  | { readonly fromBlock: number; readonly toBlock: number }
  | { readonly fromTimestamp: number; readonly toTimestamp: number };

export interface HistoricalJobRequest {
  readonly stream: Stream;
  readonly chain: Chain;
  readonly range: HistoricalRange;
  /** Lower case, each once; null: the stream's. */
  readonly addresses: readonly Address[] | null;
  readonly by: AuditActor;
}

export interface AcceptedJob {
  readonly id: string;
  readonly totalBlocks: number;
  readonly totalJobs: number;
}

/** Null: no block in the range. @throws TooManyJobsError, RangeTooLongError */
export type CreateHistoricalJob = (request: HistoricalJobRequest) => Promise<AcceptedJob | null>;

/** Internal transactions require traces. True until known. */
export type OffersTraces = (chain: Chain) => Promise<boolean>;

export interface StreamServices {
  readonly registry: ChainLookup;
  /** Followed by streams. */
  readonly chains: readonly Chain[];
  readonly bounds?: StreamBounds;
  readonly offersTraces: OffersTraces;
  readonly testWebhook: TestWebhook;
  readonly replayAttempt: ReplayAttempt;
  readonly previewBlock: PreviewBlock;
  readonly sendBlock: SendBlock;
  readonly createHistoricalJob: CreateHistoricalJob;
}
