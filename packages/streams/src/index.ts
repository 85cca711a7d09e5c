/**
 * Streams: what is watched, what matched in each block (written in the block's own transaction), and its delivery as signed
 * webhooks. Start reading at `stream.ts` and `schema.ts`.
 */

export { createStreamRoutes } from './routes/create-stream-routes.ts';
export type { StreamServices } from './routes/stream-services.ts';
export type { Stream, StreamConfig, StreamStatus } from './stream.ts';
export { createStreamsWatcher } from './watching/create-streams-watcher.ts';
