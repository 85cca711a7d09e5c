import { toQuantity } from '@chainstead/core';
import { z } from '@hono/zod-openapi';
import type { DescribeStreams } from '../records/describe-streams.ts';
import type { Stream } from '../stream.ts';
import { abiItemSchema, advancedOptionSchema, nativeBalanceSchema, triggerSchema } from './stream-schema.ts';

const STATUSES = ['active', 'paused', 'error', 'terminated'] as const;
export const statusSchema = z.enum(STATUSES);

/** docs/api/streams-reference.md#stream-record */
export const streamSchema = z
  .object({
    webhookUrl: z.string(),
    description: z.string(),
    tag: z.string(),
    topic0: z.array(z.string()).readonly().nullable(),
    allAddresses: z.boolean(),
    includeNativeTxs: z.boolean(),
    includeContractLogs: z.boolean(),
    includeInternalTxs: z.boolean(),
    includeAllTxLogs: z.boolean(),
    getNativeBalances: z.array(nativeBalanceSchema).readonly(),
    abi: z.array(abiItemSchema).readonly().nullable(),
    advancedOptions: z.array(advancedOptionSchema).readonly().nullable(),
    chainIds: z.array(z.string()).readonly(),
    filterPossibleSpamAddresses: z.boolean(),
    demo: z.boolean(),
    sendRemoved: z.boolean(),
    contracts: z.array(z.string()).readonly().nullable(),
    triggers: z.array(triggerSchema).readonly().nullable(),
    id: z.uuid(),
    status: statusSchema,
    statusMessage: z.string().openapi({ example: 'Stream is active' }),
    createdAt: z.iso.datetime(),
    updatedAt: z.iso.datetime(),
    amountOfAddresses: z.int(),
  })
  .openapi('Stream');

export function streamResponse(stream: Stream) {
  return {
    webhookUrl: stream.webhookUrl,
    description: stream.description,
    tag: stream.tag,
    topic0: stream.topic0,
    allAddresses: stream.allAddresses,
    includeNativeTxs: stream.includeNativeTxs,
    includeContractLogs: stream.includeContractLogs,
    includeInternalTxs: stream.includeInternalTxs,
    includeAllTxLogs: stream.includeAllTxLogs,
    getNativeBalances: stream.getNativeBalances,
    abi: stream.abi,
    advancedOptions: stream.advancedOptions,
    chainIds: stream.chainIds.map(toQuantity),
    filterPossibleSpamAddresses: stream.filterPossibleSpamAddresses,
    demo: stream.demo,
    sendRemoved: stream.sendRemoved,
    contracts: stream.contracts,
    triggers: stream.triggers,
    id: stream.id,
    status: stream.status,
    statusMessage: stream.statusMessage,
    createdAt: stream.createdAt.toISOString(),
    updatedAt: stream.updatedAt.toISOString(),
    amountOfAddresses: stream.amountOfAddresses,
  };
}

export async function showStream(describe: DescribeStreams, stream: Stream) {
  const [described = stream] = await describe([stream]);
  return streamResponse(described);
}

export const CONFIG_BOUNDS = { bytesMax: 1_048_576, valuesMax: 40_000 };
export const ADDRESSES_BOUNDS = { bytesMax: 4_194_304, valuesMax: 90_000 };

export function pageSchema<Item extends z.ZodType>(item: Item) {
  return z.object({ result: z.array(item).readonly(), cursor: z.string().optional(), total: z.int() });
}
