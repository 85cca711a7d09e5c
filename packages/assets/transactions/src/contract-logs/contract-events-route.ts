import type { Address } from '@chainstead/core';
import { type AbiBook, bookOf, type DecodedEvent, decodeEvent, readAbiItem } from '@chainstead/events/decoding';
import {
  defineListRoute,
  InvalidParameterError,
  querySchema,
  type RouteModule,
  textParameter,
} from '@chainstead/http';
import { indexedSchema, type PageBlock, showIndexed } from '@chainstead/pages';
import { z } from '@hono/zod-openapi';
import {
  type ContractLogsOptions,
  contractLogFilter,
  contractLogList,
  contractParameter,
  topicParameter,
} from './contract-log-list.ts';
import type { ContractLog } from './contract-logs-page.ts';

export function contractEventsRoute(options: ContractLogsOptions): RouteModule {
  return (app, dependencies) => {
    const { parameters } = dependencies;
    defineListRoute(app, dependencies, {
      ...contractLogList(options, dependencies),
      path: '/api/v2.2/{address}/events',
      operationId: 'getContractEvents',
      summary: 'List decoded events of a contract',
      description:
        'Logs of one event, decoded with the ABI item in the body, by block number, newest first by default. Completeness and limits are the same as for `/{address}/logs`.',
      params: z.object({ address: contractParameter }),
      query: querySchema({
        chain: parameters.chain,
        ...parameters.blockBounds,
        topic: topicParameter('Hash of the event signature. Default: computed from the ABI item in the body.'),
        offset: offsetParameter,
        limit: parameters.limit,
        order: parameters.order,
        cursor: parameters.cursor,
      }),
      body: eventItemSchema,
      errors: [413],
      response: { description: 'A page of events', schema: contractEventsSchema },
      cursorName: 'contract-events',
      filterOf: ({ address, topic, body, ...query }) =>
        contractLogFilter(address, query, [readEventItem(body, topic).topic0]),
      firstPage: 0,
      present: ({ contract, indexed, rows, blockOf }, envelope, { given }) => {
        const event = readEventItem(given.body, given.topic);
        const result = rows.flatMap((log) => {
          const decoded = decodeAs(event, log);
          return decoded === null ? [] : [showContractEvent(log, blockOf(log), contract, decoded)];
        });
        return { ...envelope, indexed: showIndexed(indexed), skipped: rows.length - result.length, result };
      },
    });
  };
}

const OFFSET_MAX = 10_000;

const offsetParameter = textParameter(`a whole number from 0 to ${OFFSET_MAX}`, (given) =>
  /^\d{1,5}$/.test(given) && Number(given) <= OFFSET_MAX ? Number(given) : undefined,
)
  .optional()
  .openapi({
    type: 'integer',
    minimum: 0,
    maximum: OFFSET_MAX,
    description: 'Number of events to skip before the first page.',
  });

const eventItemSchema = z.record(z.string(), z.unknown()).openapi({
  example: {
    anonymous: false,
    name: 'Transfer',
    type: 'event',
    inputs: [
      { indexed: true, name: 'from', type: 'address' },
      { indexed: true, name: 'to', type: 'address' },
      { indexed: false, name: 'value', type: 'uint256' },
    ],
  },
  description: 'The ABI item of the event',
});

const hash = z.string().openapi({ pattern: '^0x[0-9a-f]{64}$' });

const contractEventSchema = z
  .object({
    transaction_hash: hash,
    address: z.string().openapi({ pattern: '^0x[0-9a-f]{40}$' }),
    block_timestamp: z.iso.datetime({ precision: 3 }).openapi({ example: '2021-05-07T11:08:35.000Z' }),
    block_number: z.string().openapi({ pattern: '^[0-9]+$', example: '12386788' }),
    block_hash: hash,
    data: z.record(z.string(), z.string()).openapi({
      example: { from: '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed', value: '1000000000000000000' },
      description: 'By parameter. Addresses with EIP-55 checksum, integers in decimal, arrays and tuples as JSON',
    }),
  })
  .openapi('ContractEvent');

/** docs/api/transactions.md#contract-events */
const contractEventsSchema = z
  .object({
    page: z.int().min(0).openapi({ description: 'Page number, from 0' }),
    page_size: z.int().min(1),
    cursor: z.string().nullable().openapi({ description: 'Cursor of the next page. null on the last page' }),
    skipped: z
      .int()
      .min(0)
      .openapi({ description: 'Number of logs on this page that the ABI item does not decode' }),
    indexed: indexedSchema,
    result: z.array(contractEventSchema),
  })
  .openapi('ContractEvents');

function showContractEvent(
  { transaction_hash }: ContractLog,
  block: PageBlock,
  address: Address,
  decoded: DecodedEvent,
): z.infer<typeof contractEventSchema> {
  return {
    transaction_hash,
    address,
    block_timestamp: block.block_timestamp,
    block_number: String(block.block_number),
    block_hash: block.block_hash,
    data: valuesOf(decoded),
  };
}

interface EventItem {
  readonly signature: string;
  readonly topic0: string;
  readonly book: AbiBook;
}

/** `topic`: given by the client. @throws InvalidParameterError for other items or another topic */
function readEventItem(given: Readonly<Record<string, unknown>>, topic: string | undefined): EventItem {
  const read = readAbiItem({ ...given, type: given.type ?? 'event' });
  if (read === null || typeof read === 'string' || read.kind !== 'event') {
    const reason = typeof read === 'string' ? read : 'a function, a constructor or an error';
    throw new InvalidParameterError({
      parameter: 'body',
      message: `body must be the ABI item of an event that is not anonymous, and it has ${reason}`,
    });
  }
  const { signature, topic0 } = read.entry;
  if (topic !== undefined && topic !== topic0)
    throw new InvalidParameterError({
      parameter: 'topic',
      given: topic,
      allowed: `the hash of ${signature} (${topic0})`,
    });
  return { signature, topic0, book: bookOf('contract', { functions: [], events: [read.entry] }) };
}

function decodeAs({ book }: EventItem, log: ContractLog): DecodedEvent | null {
  const topics = [log.topic0, log.topic1, log.topic2, log.topic3].flatMap((topic) => topic ?? []);
  return decodeEvent({ topics, data: `0x${log.data}` }, [book]);
}

function valuesOf({ params }: DecodedEvent): Readonly<Record<string, string>> {
  return Object.fromEntries(params.map(({ name, value }, place) => [name === '' ? String(place) : name, value]));
}
