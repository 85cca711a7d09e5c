import { createMissingIndexes, showIndexed } from '@chainstead/answers';
import { parseAddress, systemClock } from '@chainstead/core';
import {
  type ApiDependencies,
  errorResponses,
  givenBlockBounds,
  indexedChain,
  querySchema,
  type RouteModule,
  requireIndexes,
} from '@chainstead/http';
import { createRoute, z } from '@hono/zod-openapi';
import { contractLogsSchema, showContractLog } from './contract-logs-response.ts';
import { BY_TOPIC } from './contract-logs-statement.ts';
import { logs } from './dataset.ts';
import { NO_LOGS_FILTER, topicParameter } from './logs-parameters.ts';
import {
  type ContractLogsOptions,
  logPositionSchema,
  logsFilterSchema,
  nextLogsPlace,
  readLogsPage,
} from './read-logs-page.ts';

/** `GET /api/v2.2/{address}/logs`: the logs of a contract (docs/provider-contract.md#contract-logs). */
export function contractLogsRoute(options: ContractLogsOptions): RouteModule {
  return (app, dependencies) => {
    const { chains, limits, paging, reads } = dependencies;
    const runs = paging.forRoute({
      route: 'contract-logs',
      filter: logsFilterSchema,
      position: logPositionSchema,
      defaults: NO_LOGS_FILTER,
      limitDefault: Math.min(PAGE_SIZE_DEFAULT, limits.pageLimitMax),
    });
    const missing = createMissingIndexes(reads, systemClock, [BY_TOPIC]);
    app.openapi(routeOf(dependencies), async (c) => {
      const { block_number: block, ...query } = c.req.valid('query');
      const bounds = block === undefined ? query : { from_block: block, to_block: block };
      const page = runs.open({
        cursor: query.cursor,
        limit: query.limit,
        order: query.order,
        filter: {
          address: c.req.valid('param').address,
          chain: query.chain?.key,
          topic0: query.topic0,
          topic1: query.topic1,
          topic2: query.topic2,
          topic3: query.topic3,
          offset: undefined,
          ...givenBlockBounds(bounds),
        },
      });
      const chain = indexedChain(chains, page.filter.chain, logs.name);
      if (page.filter.topic0 !== null) requireIndexes(await missing());
      const found = await readLogsPage(options, dependencies, c, chain, page);
      const next = nextLogsPlace(page, found);
      const contract = parseAddress(page.filter.address);
      return c.json(
        {
          page: page.page + 1,
          page_size: page.limit,
          cursor: next === null ? null : runs.next(page, next),
          indexed: showIndexed(found.indexed),
          result: found.logs.map((log) => showContractLog(log, contract)),
        },
        200,
      );
    });
  };
}

const PAGE_SIZE_DEFAULT = 100;

function routeOf({ parameters }: ApiDependencies) {
  return createRoute({
    method: 'get',
    path: '/api/v2.2/{address}/logs',
    operationId: 'getContractLogs',
    tags: ['Events'],
    summary: 'The logs of a contract',
    description:
      'All logs that a contract emitted, by block number, newest first by default. Where not all of them are indexed, they are read from a node because of the request: `indexed` says how far, and later requests have more.',
    request: {
      params: z.object({ address: parameters.address.openapi({ description: 'The contract' }) }),
      query: querySchema({
        chain: parameters.chain,
        block_number: parameters.fromBlock.openapi({ description: 'This block alone, whatever the range says.' }),
        from_block: parameters.fromBlock,
        to_block: parameters.toBlock,
        from_date: parameters.fromDate,
        to_date: parameters.toDate,
        topic0: topicParameter('The event: the hash of its signature.'),
        topic1: topicParameter('Its first indexed argument.'),
        topic2: topicParameter('Its second indexed argument.'),
        topic3: topicParameter('Its third indexed argument.'),
        limit: parameters.limit,
        order: parameters.order,
        cursor: parameters.cursor,
      }),
    },
    responses: {
      200: { description: 'A page of logs', content: { 'application/json': { schema: contractLogsSchema } } },
      ...errorResponses(400, 401, 429, 500, 503),
    },
  });
}
