import { errorResponses, type RouteModule } from '@chainstead/http';
import { createRoute, z } from '@hono/zod-openapi';
import { type DeliveryCounters, readAllStats, readStreamStats, type StreamStats } from '../records/stats.ts';
import { idParameter } from './list-parameters.ts';
import { notFound } from './stream-errors.ts';
import { answer } from './stream-response.ts';
import { refuseInvalid } from './validation-failed.ts';

const TAGS = ['Stream deliveries'];

/** docs/api/streams-reference.md#statistics */
export const streamStatsRoutes: RouteModule = (app, { database }) => {
  app.openapi(readAll, async (c) => c.json(accountResponse(await readAllStats(database)), 200), refuseInvalid);
  app.openapi(
    readOne,
    async (c) => {
      const stats = await readStreamStats(database, c.req.valid('param').streamId);
      if (stats === null) throw notFound('Stat');
      return c.json({ ...totals([stats]), ...times([stats]) }, 200);
    },
    refuseInvalid,
  );
};

function accountResponse(stats: readonly StreamStats[]) {
  return {
    ...totals(stats),
    streams: stats.map((single) => ({ ...totals([single]), streamId: single.streamId })),
    ...times(stats),
  };
}

function totals(stats: readonly StreamStats[]) {
  const sum = (counter: keyof DeliveryCounters) => stats.reduce((total, { [counter]: count }) => total + count, 0);
  return {
    totalWebhooksDelivered: sum('webhooksDelivered'),
    totalWebhooksFailed: sum('webhooksFailed'),
    totalLogsProcessed: sum('logsProcessed'),
    totalTxsProcessed: sum('txsProcessed'),
    totalTxsInternalProcessed: sum('txsInternalProcessed'),
  };
}

function times(stats: readonly StreamStats[]): { readonly createdAt?: string; readonly updatedAt?: string } {
  if (stats.length === 0) return {};
  const earliest = Math.min(...stats.map(({ createdAt }) => createdAt.getTime()));
  const latest = Math.max(...stats.map(({ updatedAt }) => updatedAt.getTime()));
  return { createdAt: new Date(earliest).toISOString(), updatedAt: new Date(latest).toISOString() };
}

const counters = {
  totalWebhooksDelivered: z
    .int()
    .openapi({ description: 'Number of webhooks with a 2xx response, each counted once.' }),
  totalWebhooksFailed: z.int().openapi({ description: 'Number of failed attempts.' }),
  totalLogsProcessed: z.int(),
  totalTxsProcessed: z.int(),
  totalTxsInternalProcessed: z.int(),
};
const dates = { createdAt: z.iso.datetime().optional(), updatedAt: z.iso.datetime().optional() };

const readAll = createRoute({
  method: 'get',
  path: '/stats',
  operationId: 'GetStats',
  tags: TAGS,
  summary: 'Get delivery statistics of all streams',
  description: 'Includes deleted streams.',
  responses: {
    200: answer(
      'Totals and statistics of each stream',
      z
        .object({ ...counters, streams: z.array(z.object({ ...counters, streamId: z.uuid() })), ...dates })
        .openapi('AccountStats'),
    ),
    ...errorResponses(401, 500, 503),
  },
});

const readOne = createRoute({
  method: 'get',
  path: '/stats/{streamId}',
  operationId: 'GetStatsByStreamId',
  tags: TAGS,
  summary: 'Get delivery statistics of a stream',
  request: { params: z.object({ streamId: idParameter() }) },
  responses: {
    200: answer('The statistics of the stream', z.object({ ...counters, ...dates }).openapi('StreamStats')),
    ...errorResponses(400, 401, 404, 500, 503),
  },
});
