import { type ChainId, toQuantity } from '@chainstead/core';
import { view, wire } from '@chainstead/http';
import { z } from '@hono/zod-openapi';
import type { Stream } from '../stream.ts';
import { abiItemSchema, advancedOptionSchema, nativeBalanceSchema, triggerSchema } from './stream-schema.ts';

const STATUSES = ['active', 'paused', 'error', 'terminated'] as const;
export const statusSchema = z.enum(STATUSES);

const { flag, integer, text } = wire;
export const id = wire.wire(z.uuid());
export const time = wire.wire(z.iso.datetime(), (date: Date) => date.toISOString());
const listOf = <Item extends z.ZodType>(item: Item) => wire.wire(z.array(item).readonly());
const texts = listOf(z.string());

/** docs/api/streams-reference.md#stream-record */
export const streamView = view('Stream', (stream: Stream) => stream, {
  webhookUrl: text(),
  description: text('Description of the stream.'),
  tag: text(),
  topic0: texts.orNull(),
  allAddresses: flag(),
  includeNativeTxs: flag(),
  includeContractLogs: flag(),
  includeInternalTxs: flag(),
  includeAllTxLogs: flag(),
  getNativeBalances: listOf(nativeBalanceSchema)(),
  abi: listOf(abiItemSchema).orNull(),
  advancedOptions: listOf(advancedOptionSchema).orNull(),
  chainIds: wire.wire(z.array(z.string()), (ids: readonly ChainId[]) => ids.map(toQuantity))(),
  filterPossibleSpamAddresses: flag(),
  demo: flag(),
  sendRemoved: flag(),
  contracts: texts.orNull(),
  triggers: listOf(triggerSchema).orNull(),
  id: id(),
  status: wire.wire(statusSchema)(),
  statusMessage: text({ example: 'Stream is active' }),
  createdAt: time(),
  updatedAt: time(),
  amountOfAddresses: integer('Number of addresses of the stream.'),
});

export const STREAM = { description: 'The stream', schema: streamView.schema };

export const CONFIG_BOUNDS = { bytesMax: 1_048_576, valuesMax: 40_000 };
export const ADDRESSES_BOUNDS = { bytesMax: 4_194_304, valuesMax: 90_000 };
