import { apiActorOf, inside, view, wire } from '@chainstead/http';
import { z } from '@hono/zod-openapi';
import { type DeliveryAttempt, findFailedAttempt } from '../records/attempts.ts';
import { ATTEMPT_LIST, historyQuery, logsQuery, readAttempts } from './attempt-query.ts';
import { defineListRoute, defineStreamRoute, idParameter } from './define-stream-route.ts';
import { notFound } from './stream-errors.ts';
import { id, time } from './stream-response.ts';
import type { StreamChains } from './stream-schema.ts';

const { flag, integer, quantity, text } = wire;
const attemptOf = (attempt: DeliveryAttempt) => attempt;

/** What the webhook's logs contain already. */
const DERIVED: ReadonlySet<string> = new Set(
  'erc20Transfers erc20Approvals nftTransfers nftApprovals nftTokenApprovals nativeBalances'.split(' '),
);

const payload = wire.wire(z.record(z.string(), z.unknown()), (body: string) => {
  const sent: Readonly<Record<string, unknown>> = JSON.parse(body);
  return Object.fromEntries(Object.entries(sent).filter(([name]) => !DERIVED.has(name)));
});

const summary = view(null, attemptOf, {
  chainId: quantity(),
  confirmed: flag('true for the webhook of the confirmed block.'),
  block: text('Number of the block, decimal string.', ({ blockNumber }) => String(blockNumber)),
  records: integer('Number of records in the webhook.'),
  retries: integer(),
});

const failureView = view('StreamHistory', attemptOf, {
  id: id(),
  date: time('Time of the delivery attempt. ISO 8601, UTC.', ({ createdAt }) => createdAt),
  payload: payload.orAbsent(
    'The webhook without data derived from its logs. Absent if excluded, above 4 MiB or no longer stored.',
    ({ body }) => body,
  ),
  tinyPayload: inside(summary)((attempt) => attempt),
  errorMessage: text({ example: 'Request failed with status code 500' }),
  webhookUrl: text(),
  streamId: id(),
  tag: text(),
});

const attemptView = view('StreamLog', attemptOf, {
  id: id(),
  streamId: id(),
  chain: quantity(({ chainId }) => chainId),
  webhookUrl: text(),
  tag: text(),
  retries: integer(),
  deliveryStatus: wire.wire(z.enum(['failed', 'success']))(({ success }) => (success ? 'success' : 'failed')),
  blockNumber: integer(),
  errorMessage: text(),
  type: wire.wire(z.literal('evm'))(() => 'evm'),
  createdAt: time(),
  updatedAt: time(({ createdAt }) => createdAt),
});

const historyRoute = (chains: StreamChains) =>
  defineListRoute({
    ...ATTEMPT_LIST,
    path: '/history',
    operationId: 'GetHistory',
    summary: 'List failed webhooks',
    query: historyQuery(chains),
    response: 'A page of failed webhooks',
    read: (given) => readAttempts(given, false, !given.excludePayload),
    view: failureView,
    row: (attempt) => [attempt],
  });

const logsRoute = (chains: StreamChains) =>
  defineListRoute({
    ...ATTEMPT_LIST,
    path: '/history/logs',
    operationId: 'GetLogs',
    summary: 'List all webhook delivery attempts',
    query: logsQuery(chains),
    response: 'A page of delivery attempts',
    read({ deliveryStatus: [status, ...others], ...given }) {
      const isOne = status !== undefined && others.length === 0;
      return readAttempts(given, isOne ? status === 'success' : null);
    },
    view: attemptView,
    row: (attempt) => [attempt],
  });

/** docs/api/streams.md#retries */
const replayRoute = defineStreamRoute({
  method: 'post',
  path: '/history/replay/{streamId}/{id}',
  operationId: 'ReplayHistory',
  tag: 'Stream deliveries',
  summary: 'Replay a failed webhook',
  description: 'Sends the original webhook unchanged. Returns 404 if it is no longer stored.',
  params: [{ streamId: idParameter(), id: idParameter() }],
  response: { description: 'The failed webhook', schema: failureView.schema },
  errors: [404, 429],
  async answer({ database, services, streamId, id: attemptId, c }) {
    const attempt = await findFailedAttempt(database, streamId, attemptId);
    if (attempt === null) throw notFound('History');
    if (!(await services.replayAttempt({ streamId, attemptId, by: apiActorOf(c) }))) throw notFound('History');
    return failureView.show(attempt);
  },
});

/** docs/api/streams-reference.md#delivery-log */
export const historyRoutes = (chains: StreamChains) => [historyRoute(chains), logsRoute(chains), replayRoute];
