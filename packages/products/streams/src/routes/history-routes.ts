import { apiActorOf, definePagedRoute, errorResponses, type RouteModule } from '@chainstead/http';
import { createRoute, z } from '@hono/zod-openapi';
import { findFailedAttempt } from '../records/attempts.ts';
import type { StreamServices } from '../stream-services.ts';
import { attemptList, historyQuery, logsQuery } from './attempt-query.ts';
import { historyResponse, historySchema, logResponse, logSchema } from './history-response.ts';
import { idParameter, pageBody } from './list-parameters.ts';
import { notFound } from './stream-errors.ts';
import { answer, pageSchema } from './stream-response.ts';
import { refuseInvalid } from './validation-failed.ts';

const TAGS = ['Stream deliveries'];

/** docs/api/streams-reference.md#delivery-log */
export const streamHistoryRoute: RouteModule = (app, dependencies) => {
  definePagedRoute(app, dependencies, {
    ...attemptList(dependencies, 'failures'),
    path: '/history',
    operationId: 'GetHistory',
    summary: 'List failed webhooks',
    query: historyQuery(dependencies),
    filterOf: ({ cursor, limit, body, ...filter }) => filter,
    response: { description: 'A page of failed webhooks', schema: pageSchema(historySchema) },
    present: ({ items, total }, envelope) => pageBody(items.map(historyResponse), envelope, total),
  });
};

export const streamLogsRoute: RouteModule = (app, dependencies) => {
  definePagedRoute(app, dependencies, {
    ...attemptList(dependencies, 'attempts'),
    path: '/history/logs',
    operationId: 'GetLogs',
    summary: 'List all webhook delivery attempts',
    query: logsQuery(dependencies),
    filterOf: ({ cursor, limit, body, ...filter }) => filter,
    response: { description: 'A page of delivery attempts', schema: pageSchema(logSchema) },
    present: ({ items, total }, envelope) => pageBody(items.map(logResponse), envelope, total),
  });
};

/** docs/api/streams.md#retries */
export function streamReplayRoute({ replayAttempt }: StreamServices): RouteModule {
  return (app, { database }) => {
    app.openapi(
      replay,
      async (c) => {
        const { streamId, id } = c.req.valid('param');
        const attempt = await findFailedAttempt(database, streamId, id);
        if (attempt === null) throw notFound('History');
        if (!(await replayAttempt({ streamId, attemptId: id, by: apiActorOf(c) }))) throw notFound('History');
        return c.json(historyResponse(attempt), 200);
      },
      refuseInvalid,
    );
  };
}

const replay = createRoute({
  method: 'post',
  path: '/history/replay/{streamId}/{id}',
  operationId: 'ReplayHistory',
  tags: TAGS,
  summary: 'Replay a failed webhook',
  description: 'Sends the original webhook unchanged. Returns 404 if it is no longer stored.',
  request: { params: z.object({ streamId: idParameter(), id: idParameter() }) },
  responses: { 200: answer('The failed webhook', historySchema), ...errorResponses(400, 401, 404, 429, 500, 503) },
});
