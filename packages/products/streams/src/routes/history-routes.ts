import { toQuantity } from '@chainstead/core';
import { apiActorOf, definePagedRoute, type RouteModule } from '@chainstead/http';
import { z } from '@hono/zod-openapi';
import { type DeliveryAttempt, findFailedAttempt } from '../records/attempts.ts';
import type { StreamServices } from '../stream-services.ts';
import { attemptList, historyQuery, logsQuery } from './attempt-query.ts';
import { defineStreamRoute } from './define-stream-route.ts';
import { idParameter, pageBody } from './list-parameters.ts';
import { notFound } from './stream-errors.ts';
import { pageSchema } from './stream-response.ts';

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
  return (app, dependencies) => {
    defineStreamRoute(app, dependencies, {
      method: 'post',
      path: '/history/replay/{streamId}/{id}',
      operationId: 'ReplayHistory',
      tags: ['Stream deliveries'],
      summary: 'Replay a failed webhook',
      description: 'Sends the original webhook unchanged. Returns 404 if it is no longer stored.',
      params: { streamId: idParameter(), id: idParameter() },
      response: { description: 'The failed webhook', schema: historySchema },
      errors: [404, 429],
      async answer({ streamId, id, c }) {
        const attempt = await findFailedAttempt(dependencies.database, streamId, id);
        if (attempt === null) throw notFound('History');
        if (!(await replayAttempt({ streamId, attemptId: id, by: apiActorOf(c) }))) throw notFound('History');
        return historyResponse(attempt);
      },
    });
  };
}

const historySchema = z
  .object({
    id: z.uuid(),
    date: z.iso.datetime(),
    payload: z.record(z.string(), z.unknown()).optional().openapi({
      description:
        'The webhook without data derived from its logs. Absent if excluded, above 4 MiB or no longer stored.',
    }),
    tinyPayload: z.object({
      chainId: z.string(),
      confirmed: z.boolean(),
      block: z.string(),
      records: z.int(),
      retries: z.int(),
    }),
    errorMessage: z.string().openapi({ example: 'Request failed with status code 500' }),
    webhookUrl: z.string(),
    streamId: z.uuid(),
    tag: z.string(),
  })
  .openapi('StreamHistory');

const logSchema = z
  .object({
    id: z.uuid(),
    streamId: z.uuid(),
    chain: z.string(),
    webhookUrl: z.string(),
    tag: z.string(),
    retries: z.int(),
    deliveryStatus: z.enum(['failed', 'success']),
    blockNumber: z.int(),
    errorMessage: z.string(),
    type: z.literal('evm'),
    createdAt: z.iso.datetime(),
    updatedAt: z.iso.datetime(),
  })
  .openapi('StreamLog');

const DERIVED: ReadonlySet<string> = new Set(
  'erc20Transfers erc20Approvals nftTransfers nftApprovals nftTokenApprovals nativeBalances'.split(' '),
);

function historyResponse(attempt: DeliveryAttempt) {
  const { id, errorMessage, webhookUrl, streamId, tag, confirmed, records, retries, body } = attempt;
  const sent: Readonly<Record<string, unknown>> | null = body === null ? null : JSON.parse(body);
  return {
    id,
    date: attempt.createdAt.toISOString(),
    payload:
      sent === null ? undefined : Object.fromEntries(Object.entries(sent).filter(([name]) => !DERIVED.has(name))),
    tinyPayload: {
      chainId: toQuantity(attempt.chainId),
      confirmed,
      block: String(attempt.blockNumber),
      records,
      retries,
    },
    errorMessage,
    webhookUrl,
    streamId,
    tag,
  };
}

function logResponse(attempt: DeliveryAttempt) {
  const { id, streamId, webhookUrl, tag, retries, blockNumber, errorMessage } = attempt;
  const at = attempt.createdAt.toISOString();
  return {
    id,
    streamId,
    chain: toQuantity(attempt.chainId),
    webhookUrl,
    tag,
    retries,
    deliveryStatus: attempt.success ? ('success' as const) : ('failed' as const),
    blockNumber,
    errorMessage,
    type: 'evm' as const,
    createdAt: at,
    updatedAt: at,
  };
}
