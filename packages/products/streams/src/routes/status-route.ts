import { apiActorOf, errorResponses, type RouteModule } from '@chainstead/http';
import { createRoute, z } from '@hono/zod-openapi';
import { createDescribeStreams } from '../contracts/describe-streams.ts';
import type { StreamServices } from '../stream-services.ts';
import { idParameters } from './list-parameters.ts';
import { setStreamStatus } from './set-stream-status.ts';
import { answer, jsonBody, showStream, streamSchema } from './stream-response.ts';
import { refuseInvalid } from './validation-failed.ts';

/** docs/api/streams.md#status */
export function streamStatusRoute(services: StreamServices): RouteModule {
  return (app, { database }) => {
    const describe = createDescribeStreams(database);
    app.openapi(
      route,
      async (c) => {
        const { id } = c.req.valid('param');
        const changed = await setStreamStatus({ database, services }, id, c.req.valid('json'), apiActorOf(c));
        return c.json(await showStream(describe, changed), 200);
      },
      refuseInvalid,
    );
  };
}

const route = createRoute({
  method: 'post',
  path: '/streams/evm/{id}/status',
  operationId: 'UpdateStreamStatus',
  tags: ['Streams'],
  summary: 'Pause or resume a stream',
  description: 'Before a stream becomes active, a test webhook must return 2xx. Waiting webhooks are then delivered.',
  request: {
    params: idParameters,
    body: jsonBody(
      z.strictObject({
        status: z.enum(['active', 'paused']),
        resumeTerminated: z.boolean().optional().openapi({
          description: 'Chainstead extension: reactivates a terminated stream. Default: false.',
        }),
      }),
    ),
  },
  responses: { 200: answer('The stream', streamSchema), ...errorResponses(400, 401, 404, 429, 500, 503) },
});
