import { type ApiDependencies, apiActorOf, errorResponses, type RouteModule } from '@chainstead/http';
import { createRoute, z } from '@hono/zod-openapi';
import { findFailedAttempt } from '../records/attempts.ts';
import type { StreamServices } from '../stream-services.ts';
import { attemptList, historyQuery, logsQuery } from './attempt-query.ts';
import { historyResponse, historySchema, logResponse, logSchema } from './history-response.ts';
import { idParameter } from './list-parameters.ts';
import { notFound } from './stream-errors.ts';
import { answer, pageSchema } from './stream-response.ts';
import { refuseInvalid } from './validation-failed.ts';

const TAGS = ['Stream history'];

/** `GET /history`: failed attempts with what they carried (docs/provider-contract.md#delivery-log). */
export const streamHistoryRoute: RouteModule = (app, dependencies) => {
  const read = attemptList(dependencies, 'failures');
  app.openapi(
    history(dependencies),
    async (c) => {
      const { attempts, cursor, total } = await read(c.req.valid('query'));
      return c.json({ result: attempts.map(historyResponse), cursor, total }, 200);
    },
    refuseInvalid,
  );
};

/** `GET /history/logs`: every attempt (docs/provider-contract.md#delivery-log). */
export const streamLogsRoute: RouteModule = (app, dependencies) => {
  const read = attemptList(dependencies, 'attempts');
  app.openapi(
    logs(dependencies),
    async (c) => {
      const { attempts, cursor, total } = await read(c.req.valid('query'));
      return c.json({ result: attempts.map(logResponse), cursor, total }, 200);
    },
    refuseInvalid,
  );
};

/** `POST /history/replay/{streamId}/{id}`: sends a failed webhook again (docs/provider-contract.md#delivery). */
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

function history(dependencies: ApiDependencies) {
  return createRoute({
    method: 'get',
    path: '/history',
    operationId: 'GetHistory',
    tags: TAGS,
    summary: 'Get failed webhooks',
    description: 'Newest first. total counts up to 10,000.',
    request: { query: historyQuery(dependencies) },
    responses: {
      200: answer('A page of failed webhooks', pageSchema(historySchema)),
      ...errorResponses(400, 401, 500, 503),
    },
  });
}

function logs(dependencies: ApiDependencies) {
  return createRoute({
    method: 'get',
    path: '/history/logs',
    operationId: 'GetLogs',
    tags: TAGS,
    summary: 'Get all attempts to deliver webhooks',
    description: 'Newest first. total counts up to 10,000.',
    request: { query: logsQuery(dependencies) },
    responses: { 200: answer('A page of attempts', pageSchema(logSchema)), ...errorResponses(400, 401, 500, 503) },
  });
}

const replay = createRoute({
  method: 'post',
  path: '/history/replay/{streamId}/{id}',
  operationId: 'ReplayHistory',
  tags: TAGS,
  summary: 'Send a failed webhook again',
  description: 'What was sent then, unchanged. 404 when it is no longer kept.',
  request: { params: z.object({ streamId: idParameter(), id: idParameter() }) },
  responses: { 200: answer('The failed webhook', historySchema), ...errorResponses(400, 401, 404, 429, 500, 503) },
});
