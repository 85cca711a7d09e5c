import { toQuantity } from '@chainstead/core';
import { z } from '@hono/zod-openapi';
import type { DeliveryAttempt } from '../records/attempts.ts';

/** docs/api/streams-reference.md#delivery-log */
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

const DERIVED: ReadonlySet<string> = new Set(
  'erc20Transfers erc20Approvals nftTransfers nftApprovals nftTokenApprovals nativeBalances'.split(' '),
);

export function historyResponse(attempt: DeliveryAttempt) {
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

export function logResponse(attempt: DeliveryAttempt) {
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
