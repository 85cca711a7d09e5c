import { toQuantity } from '@chainstead/core';
import { apiActorOf, view, wire } from '@chainstead/http';
import { z } from '@hono/zod-openapi';
import { type DeliveryAttempt, findFailedAttempt } from '../records/attempts.ts';
import { ATTEMPT_LIST, historyQuery, logsQuery, readAttempts } from './attempt-query.ts';
import { defineListRoute, defineStreamRoute, idParameter } from './define-stream-route.ts';
import { notFound } from './stream-errors.ts';
import { id, time } from './stream-response.ts';
import type { StreamChains } from './stream-schema.ts';

const { integer, text } = wire;
const attemptOf = (attempt: DeliveryAttempt) => ({ ...attempt, date: attempt.createdAt.toISOString() });

/** What the webhook's logs contain already. */
const DERIVED: ReadonlySet<string> = new Set(
  'erc20Transfers erc20Approvals nftTransfers nftApprovals nftTokenApprovals nativeBalances'.split(' '),
);

const payload = wire.wire(z.record(z.string(), z.unknown()).optional());
const tinyPayload = wire.wire(
  z.object({
    chainId: z.string(),
    confirmed: z.boolean(),
    block: z.string(),
    records: z.int(),
    retries: z.int(),
  }),
);

const failureView = view('StreamHistory', attemptOf, {
  id: id(),
  date: time(),
  payload: payload(
    'The webhook without data derived from its logs. Absent if excluded, above 4 MiB or no longer stored.',
    ({ body }) => {
      if (body === null) return undefined;
      const sent: Readonly<Record<string, unknown>> = JSON.parse(body);
      return Object.fromEntries(Object.entries(sent).filter(([name]) => !DERIVED.has(name)));
    },
  ),
  tinyPayload: tinyPayload(({ chainId, confirmed, blockNumber, records, retries }) => ({
    chainId: toQuantity(chainId),
    confirmed,
    block: String(blockNumber),
    records,
    retries,
  })),
  errorMessage: text({ example: 'Request failed with status code 500' }),
  webhookUrl: text(),
  streamId: id(),
  tag: text(),
});

const attemptView = view('StreamLog', attemptOf, {
  id: id(),
  streamId: id(),
  chain: text(({ chainId }) => toQuantity(chainId)),
  webhookUrl: text(),
  tag: text(),
  retries: integer(),
  deliveryStatus: wire.wire(z.enum(['failed', 'success']))(({ success }) => (success ? 'success' : 'failed')),
  blockNumber: integer(),
  errorMessage: text(),
  type: wire.wire(z.literal('evm'))(() => 'evm'),
  createdAt: time(({ date }) => date),
  updatedAt: time(({ date }) => date),
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
