/** Stream configurations, matches and signed webhooks. Start with `stream.ts`, then `delivery/`. */

export { type HostQueue, readHostQueues } from './delivery/host-queues.ts';
export { type AttemptOutcome, type DeliveryRecord, readDelivery } from './delivery/outbox.ts';
export { createReplayAttempt, type Replayed } from './delivery/replay.ts';
export { listWaitingDeliveries, type WaitingPage } from './delivery/status.ts';
export { createProbeWebhook, createTestWebhook } from './delivery/test-webhook.ts';
export { createDeliveryWorker } from './delivery/worker.ts';
export { createEnrichMatch } from './enrichment/enrich-match.ts';
export { createWebhookBodies } from './enrichment/webhook-bodies.ts';
export { addDeferredMatches } from './historical/deferred-work.ts';
export { addHistoricalJobs, DUE_HISTORICAL_JOBS, HISTORICAL_JOB_WORK } from './historical/historical-jobs.ts';
export { createPastBlockServices } from './historical/past-block-services.ts';
export { PREVIEW_BLOCKS_MAX, type RangePreview } from './historical/preview-range.ts';
export { type EventTopic, readAbiEvents } from './operations/read-abi-events.ts';
export {
  createStreamOperations,
  type GivenStream,
  type StreamOperations,
} from './operations/stream-operations.ts';
export { type AttemptPage, listAttempts } from './records/attempts.ts';
export { DEFERRED_MATCH_WORK, DUE_DEFERRED_MATCHES } from './records/deferred-matches.ts';
export { readStreamSettings } from './records/settings.ts';
export { type AttemptCount, countAttempts, readStreamStatuses, type StreamStatuses } from './records/stats.ts';
export { type AddressPage, createStreamAddressStore } from './records/stream-addresses.ts';
export {
  listStreamOverviews,
  type OverviewPage,
  readStreamOverview,
  type StreamOverview,
  WAITING_COUNTED_MAX,
} from './records/stream-overviews.ts';
export { createStreamRoutes } from './routes/create-stream-routes.ts';
export { ValidationFailedError } from './routes/validation-failed.ts';
export type { Stream, StreamStatus } from './stream.ts';
export type { StreamServices } from './stream-services.ts';
export { createStreamsWatcher } from './watching/create-streams-watcher.ts';
