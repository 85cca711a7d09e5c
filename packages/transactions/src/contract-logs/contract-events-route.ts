import { type ApiDependencies, errorResponses, querySchema, type RouteModule, textParameter } from '@chainstead/http';
import { createRoute, z } from '@hono/zod-openapi';
import { contractEventsSchema, showContractEvent } from './contract-events-response.ts';
import { contractParameter } from './contract-parameter.ts';
import { decodeAs, readEventItem } from './event-item.ts';
import { type ContractLogsOptions, createOpenLogsPage } from './open-logs-page.ts';
import { topicParameter } from './topic-parameter.ts';

/** `POST /api/v2.2/{address}/events`: the events of a contract, by an ABI item (docs/provider-contract.md#contract-events). */
export function contractEventsRoute(options: ContractLogsOptions): RouteModule {
  return (app, dependencies) => {
    const openLogsPage = createOpenLogsPage('contract-events', options, dependencies);
    app.openapi(routeOf(dependencies), async (c) => {
      const query = c.req.valid('query');
      const event = readEventItem(c.req.valid('json'), query.topic);
      const { address } = c.req.valid('param');
      const { page, contract, logs, envelope } = await openLogsPage(c, address, query, [event.topic0]);
      const result = logs.flatMap((log) => {
        const decoded = decodeAs(event, log);
        return decoded === null ? [] : [showContractEvent(log, contract, decoded)];
      });
      return c.json({ page, ...envelope, skipped: logs.length - result.length, result }, 200);
    });
  };
}

/** What is left out is read: more is a matter of cursors. */
const OFFSET_MAX = 10_000;

const offsetParameter = textParameter(`a whole number from 0 to ${OFFSET_MAX}`, (given) =>
  /^\d{1,5}$/.test(given) && Number(given) <= OFFSET_MAX ? Number(given) : undefined,
)
  .optional()
  .openapi({
    type: 'integer',
    minimum: 0,
    maximum: OFFSET_MAX,
    description: 'So many events are left out before the first page.',
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

function routeOf({ parameters }: ApiDependencies) {
  return createRoute({
    method: 'post',
    path: '/api/v2.2/{address}/events',
    operationId: 'getContractEvents',
    tags: ['Events'],
    summary: 'The events of a contract',
    description:
      'The logs of one event of a contract, decoded by the ABI item that the body is, by block number, newest first by default. Read and indexed as `/{address}/logs`.',
    request: {
      params: z.object({ address: contractParameter }),
      query: querySchema({
        chain: parameters.chain,
        from_block: parameters.fromBlock,
        to_block: parameters.toBlock,
        from_date: parameters.fromDate,
        to_date: parameters.toDate,
        topic: topicParameter('The hash of the event’s signature; told by the body where it is left out.'),
        offset: offsetParameter,
        limit: parameters.limit,
        order: parameters.order,
        cursor: parameters.cursor,
      }),
      body: { required: true, content: { 'application/json': { schema: eventItemSchema } } },
    },
    responses: {
      200: { description: 'A page of events', content: { 'application/json': { schema: contractEventsSchema } } },
      ...errorResponses(400, 401, 413, 429, 500, 503),
    },
  });
}
