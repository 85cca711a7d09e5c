import { type RouteModule, withScope } from '@chainstead/http';
import type { StreamServices } from '../stream-services.ts';
import { streamAddressRoutes } from './address-routes.ts';
import { blockPreviewRoute, blockToWebhookRoute } from './block-routes.ts';
import { historicalJobRoutes } from './historical-job-routes.ts';
import { streamHistoryRoute, streamLogsRoute, streamReplayRoute } from './history-routes.ts';
import { streamSettingsRoutes } from './settings-routes.ts';
import { streamStatsRoutes } from './stats-routes.ts';
import { streamStatusRoute } from './status-route.ts';
import { streamRoutes } from './stream-routes.ts';

/** docs/api/streams-reference.md#stream-routes */
export function createStreamRoutes(services: StreamServices): readonly RouteModule[] {
  const streams = [
    streamRoutes(services),
    streamStatusRoute(services),
    streamAddressRoutes(services),
    blockPreviewRoute(services),
    blockToWebhookRoute(services),
    streamStatsRoutes,
    streamHistoryRoute,
    streamLogsRoute,
    streamReplayRoute(services),
    historicalJobRoutes(services),
  ];
  // The secret signs the webhooks of all streams.
  return [withScope('streams', streams), withScope('admin', [streamSettingsRoutes])];
}
