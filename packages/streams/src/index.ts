/**
 * Streams: what is watched, what matched in each block (written in the block's own transaction), and its delivery as signed
 * webhooks. Start reading at `stream.ts` and `schema.ts`.
 */

export { createDeliveryWorker } from './delivery/delivery-worker.ts';
export { createReplayAttempt } from './delivery/replay-attempt.ts';
export { createTestWebhook } from './delivery/test-webhook.ts';
export { createEnrichMatch } from './enrichment/enrich-match.ts';
export { createWebhookBodies } from './enrichment/webhook-bodies.ts';
export { createHistoricalJobs } from './historical/historical-jobs.ts';
export { createPastBlockServices } from './historical/past-block-services.ts';
export { readStreamSettings } from './records/settings.ts';
export { readStreamStatuses, type StreamStatuses } from './records/stream-statuses.ts';
export { createStreamRoutes } from './routes/create-stream-routes.ts';
export type { StreamServices } from './stream-services.ts';
export { createStreamsWatcher } from './watching/create-streams-watcher.ts';
