import { each, view, wire } from '@chainstead/http';
import { type DeliveryCounters, readAllStats, readStreamStats, type StreamStats } from '../records/stats.ts';
import { defineStreamRoute, idParameter } from './define-stream-route.ts';
import { notFound } from './stream-errors.ts';
import { id, time } from './stream-response.ts';

interface Totals {
  readonly stats: readonly StreamStats[];
}

const { integer } = wire;
const sumOf =
  (counter: keyof DeliveryCounters) =>
  ({ stats }: Totals) =>
    stats.reduce((total, { [counter]: count }) => total + count, 0);
const counters = {
  totalWebhooksDelivered: integer(
    'Number of webhooks with a 2xx response, each counted once.',
    sumOf('webhooksDelivered'),
  ),
  totalWebhooksFailed: integer('Number of failed attempts.', sumOf('webhooksFailed')),
  totalLogsProcessed: integer('Number of logs delivered.', sumOf('logsProcessed')),
  totalTxsProcessed: integer('Number of transactions delivered.', sumOf('txsProcessed')),
  totalTxsInternalProcessed: integer('Number of internal transactions delivered.', sumOf('txsInternalProcessed')),
};

const timeOf = (member: 'createdAt' | 'updatedAt', choose: (...times: number[]) => number) =>
  time.orAbsent(({ stats }: Totals) =>
    stats.length === 0 ? null : new Date(choose(...stats.map(({ [member]: date }) => date.getTime()))),
  );
const dates = { createdAt: timeOf('createdAt', Math.min), updatedAt: timeOf('updatedAt', Math.max) };

const ofStream = view(null, (single: StreamStats) => ({ ...single, stats: [single] }), {
  ...counters,
  streamId: id(),
});
const totalsOf = (stats: readonly StreamStats[]): Totals => ({ stats });
const accountStats = view('AccountStats', totalsOf, {
  ...counters,
  streams: each(ofStream)(({ stats }) => stats),
  ...dates,
});
const streamStats = view('StreamStats', totalsOf, { ...counters, ...dates });

/** docs/api/streams-reference.md#statistics */
export const streamStatsRoutes = [
  defineStreamRoute({
    path: '/stats',
    operationId: 'GetStats',
    tag: 'Stream deliveries',
    summary: 'Get delivery statistics of all streams',
    description: 'Includes deleted streams.',
    response: { description: 'Totals and statistics of each stream', schema: accountStats.schema },
    answer: async ({ database }) => accountStats.show(await readAllStats(database)),
  }),
  defineStreamRoute({
    path: '/stats/{streamId}',
    operationId: 'GetStatsByStreamId',
    tag: 'Stream deliveries',
    summary: 'Get delivery statistics of a stream',
    params: [{ streamId: idParameter() }],
    response: { description: 'The statistics of the stream', schema: streamStats.schema },
    errors: [404],
    async answer({ database, streamId }) {
      const stats = await readStreamStats(database, streamId);
      if (stats === null) throw notFound('Stat');
      return streamStats.show([stats]);
    },
  }),
];
