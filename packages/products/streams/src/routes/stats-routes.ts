import type { RouteModule } from '@chainstead/http';
import { z } from '@hono/zod-openapi';
import { type DeliveryCounters, readAllStats, readStreamStats, type StreamStats } from '../records/stats.ts';
import { defineStreamRoute } from './define-stream-route.ts';
import { idParameter } from './list-parameters.ts';
import { notFound } from './stream-errors.ts';

/** docs/api/streams-reference.md#statistics */
export const streamStatsRoutes: RouteModule = (app, dependencies) => {
  const { database } = dependencies;
  defineStreamRoute(app, dependencies, {
    path: '/stats',
    operationId: 'GetStats',
    tags: ['Stream deliveries'],
    summary: 'Get delivery statistics of all streams',
    description: 'Includes deleted streams.',
    response: {
      description: 'Totals and statistics of each stream',
      schema: z
        .object({ ...counters, streams: z.array(z.object({ ...counters, streamId: z.uuid() })), ...dates })
        .openapi('AccountStats'),
    },
    async answer() {
      const stats = await readAllStats(database);
      const streams = stats.map((single) => ({ ...totals([single]), streamId: single.streamId }));
      return { ...totals(stats), streams, ...times(stats) };
    },
  });
  defineStreamRoute(app, dependencies, {
    path: '/stats/{streamId}',
    operationId: 'GetStatsByStreamId',
    tags: ['Stream deliveries'],
    summary: 'Get delivery statistics of a stream',
    params: { streamId: idParameter() },
    response: {
      description: 'The statistics of the stream',
      schema: z.object({ ...counters, ...dates }).openapi('StreamStats'),
    },
    errors: [404],
    async answer({ streamId }) {
      const stats = await readStreamStats(database, streamId);
      if (stats === null) throw notFound('Stat');
      return { ...totals([stats]), ...times([stats]) };
    },
  });
};

function totals(stats: readonly StreamStats[]) {
  const sum = (counter: keyof DeliveryCounters) =>
    stats.reduce((total, { [counter]: count }) => total + count, 0);
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
