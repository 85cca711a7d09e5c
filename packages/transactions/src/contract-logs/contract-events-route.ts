import { showIndexed } from '@chainstead/data-api';
import { defineListRoute, querySchema, type RouteModule, textParameter } from '@chainstead/http';
import { z } from '@hono/zod-openapi';
import { contractEventsSchema, showContractEvent } from './contract-events-response.ts';
import {
  type ContractLogsOptions,
  contractLogFilter,
  contractLogList,
  contractParameter,
  topicParameter,
} from './contract-log-list.ts';
import { decodeAs, readEventItem } from './event-item.ts';

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
      present: ({ contract, indexed, logs }, envelope, { given }) => {
        const event = readEventItem(given.body, given.topic);
        const result = logs.flatMap((log) => {
          const decoded = decodeAs(event, log);
          return decoded === null ? [] : [showContractEvent(log, contract, decoded)];
        });
        return { ...envelope, indexed: showIndexed(indexed), skipped: logs.length - result.length, result };
      },
    });
  };
}

/** Skipped rows are read too: for more, clients use cursors. */
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
