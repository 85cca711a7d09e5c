import { apiActorOf, type RouteModule, withScope } from '@chainstead/http';
import { z } from '@hono/zod-openapi';
import { createDescribeStreams } from '../records/describe-streams.ts';
import { changeStreamSettings, REGIONS, readStreamSettings } from '../records/settings.ts';
import type { StreamServices } from '../stream-services.ts';
import { streamAddressRoutes } from './address-routes.ts';
import { blockPreviewRoute, blockToWebhookRoute } from './block-routes.ts';
import { defineStreamRoute } from './define-stream-route.ts';
import { historicalJobRoutes } from './historical-job-routes.ts';
import { streamHistoryRoute, streamLogsRoute, streamReplayRoute } from './history-routes.ts';
import { isStorableText } from './json-text.ts';
import { idParameter } from './list-parameters.ts';
import { setStreamStatus } from './set-stream-status.ts';
import { streamStatsRoutes } from './stats-routes.ts';
import { showStream, streamSchema } from './stream-response.ts';
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

const SECRET_LENGTH_MIN = 8;
const SECRET_LENGTH_MAX = 256;

/** docs/api/streams-reference.md#stream-routes */
const streamSettingsRoutes: RouteModule = (app, dependencies) => {
  const { database } = dependencies;
  const response = {
    description: 'The settings',
    schema: z.object({ region: z.enum(REGIONS), secretKey: z.string() }).openapi('StreamSettings'),
  };
  defineStreamRoute(app, dependencies, {
    path: '/settings',
    operationId: 'GetSettings',
    tags: ['Streams'],
    summary: 'Get the settings of all streams',
    description: 'The secret signs webhooks. Chainstead generates it at the first start.',
    response,
    async answer() {
      const { region, secretKey } = await readStreamSettings(database);
      return { region, secretKey };
    },
  });
  defineStreamRoute(app, dependencies, {
    path: '/settings',
    operationId: 'SetSettings',
    tags: ['Streams'],
    summary: 'Change the settings of all streams',
    description:
      'A new secret signs webhooks from the next attempt. For 24 hours, webhook-signature also contains a signature with the previous secret.',
    body: z.strictObject({
      region: z.enum(REGIONS).optional(),
      secretKey: z
        .string()
        .min(SECRET_LENGTH_MIN)
        .max(SECRET_LENGTH_MAX)
        .refine(isStorableText, { error: 'must not contain NUL characters or lone surrogates' })
        .optional(),
    }),
    response,
    async answer({ body, c }) {
      const { region, secretKey } = await changeStreamSettings(database, body, apiActorOf(c));
      return { region, secretKey };
    },
  });
};

/** docs/api/streams.md#status */
function streamStatusRoute(services: StreamServices): RouteModule {
  return (app, dependencies) => {
    const { database } = dependencies;
    const describe = createDescribeStreams(database);
    defineStreamRoute(app, dependencies, {
      path: '/streams/evm/{id}/status',
      operationId: 'UpdateStreamStatus',
      tags: ['Streams'],
      summary: 'Pause or resume a stream',
      description:
        'Before a stream becomes active, a test webhook must return 2xx. Waiting webhooks are then delivered.',
      params: { id: idParameter() },
      body: z.strictObject({
        status: z.enum(['active', 'paused']),
        resumeTerminated: z.boolean().optional().openapi({
          description: 'Chainstead extension: reactivates a terminated stream. Default: false.',
        }),
      }),
      response: { description: 'The stream', schema: streamSchema },
      errors: [404, 429],
      answer: async ({ id, body, c }) =>
        showStream(describe, await setStreamStatus({ database, services }, id, body, apiActorOf(c))),
    });
  };
}
