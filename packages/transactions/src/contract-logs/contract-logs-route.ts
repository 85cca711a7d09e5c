import { type ApiDependencies, errorResponses, querySchema, type RouteModule } from '@chainstead/http';
import { createRoute, z } from '@hono/zod-openapi';
import { contractLogsSchema, showContractLog } from './contract-logs-response.ts';
import { contractParameter } from './contract-parameter.ts';
import { type ContractLogsOptions, createOpenLogsPage } from './open-logs-page.ts';
import { topicParameter } from './topic-parameter.ts';

/** `GET /api/v2.2/{address}/logs`: the logs of a contract (docs/provider-contract.md#contract-logs). */
export function contractLogsRoute(options: ContractLogsOptions): RouteModule {
  return (app, dependencies) => {
    const openLogsPage = createOpenLogsPage('contract-logs', options, dependencies);
    app.openapi(routeOf(dependencies), async (c) => {
      const { block_number: block, topic0, topic1, topic2, topic3, ...query } = c.req.valid('query');
      const asked = block === undefined ? query : { ...query, from_block: block, to_block: block };
      const { address } = c.req.valid('param');
      const { page, contract, logs, envelope } = await openLogsPage(c, address, asked, [
        topic0,
        topic1,
        topic2,
        topic3,
      ]);
      const result = logs.map((log) => showContractLog(log, contract));
      return c.json({ page: page + 1, ...envelope, result }, 200);
    });
  };
}

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
      params: z.object({ address: contractParameter }),
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
