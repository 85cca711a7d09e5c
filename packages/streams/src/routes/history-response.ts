import { toQuantity } from '@chainstead/core';
import { z } from '@hono/zod-openapi';
import type { DeliveryAttempt } from '../records/attempts.ts';

/** A failed webhook (docs/api/streams-reference.md#delivery-log). */
export const historySchema = z
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

/** An attempt to deliver a webhook (docs/api/streams-reference.md#delivery-log). */
export const logSchema = z
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

/** Webhook members missing in the hosted API's history: they are derived from the logs. */
const DERIVED: ReadonlySet<string> = new Set([
  'erc20Transfers',
  'erc20Approvals',
  'nftTransfers',
  'nftApprovals',
  'nftTokenApprovals',
  'nativeBalances',
]);

export function historyResponse(attempt: DeliveryAttempt) {
  return {
    id: attempt.id,
    date: attempt.createdAt.toISOString(),
    payload: attempt.body === null ? undefined : payloadOf(attempt.body),
    tinyPayload: {
      chainId: toQuantity(attempt.chainId),
      confirmed: attempt.confirmed,
      block: String(attempt.blockNumber),
      records: attempt.records,
      retries: attempt.retries,
    },
    errorMessage: attempt.errorMessage,
    webhookUrl: attempt.webhookUrl,
    streamId: attempt.streamId,
    tag: attempt.tag,
  };
}

export function logResponse(attempt: DeliveryAttempt) {
  const at = attempt.createdAt.toISOString();
  return {
    id: attempt.id,
    streamId: attempt.streamId,
    chain: toQuantity(attempt.chainId),
    webhookUrl: attempt.webhookUrl,
    tag: attempt.tag,
    retries: attempt.retries,
    deliveryStatus: attempt.success ? ('success' as const) : ('failed' as const),
    blockNumber: attempt.blockNumber,
    errorMessage: attempt.errorMessage,
    type: 'evm' as const,
    createdAt: at,
    // Attempts never change.
    updatedAt: at,
  };
}

/** Returns the sent body, a JSON object, without derived members. */
function payloadOf(body: string): Record<string, unknown> {
  const webhook: Readonly<Record<string, unknown>> = JSON.parse(body);
  return Object.fromEntries(Object.entries(webhook).filter(([name]) => !DERIVED.has(name)));
}
