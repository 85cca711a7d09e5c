import { apiActorOf, type RouteModule } from '@chainstead/http';
import { z } from '@hono/zod-openapi';
import { createDescribeStreams } from '../contracts/describe-streams.ts';
import type { StreamServices } from '../stream-services.ts';
import { defineStreamRoute } from './define-stream-route.ts';
import { idParameter } from './list-parameters.ts';
import { setStreamStatus } from './set-stream-status.ts';
import { showStream, streamSchema } from './stream-response.ts';

/** docs/api/streams.md#status */
export function streamStatusRoute(services: StreamServices): RouteModule {
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
