import { showIndexed } from '@chainstead/data-api';
import { defineListRoute, querySchema, type RouteModule } from '@chainstead/http';
import { z } from '@hono/zod-openapi';
import { contractEventsRoute } from './contract-events-route.ts';
import {
  type ContractLogsOptions,
  contractLogFilter,
  contractLogList,
  contractParameter,
  topicParameter,
} from './contract-log-list.ts';
import { contractLogsSchema, showContractLog } from './contract-logs-response.ts';

export function contractLogsRoutes(options: ContractLogsOptions): readonly RouteModule[] {
  return [contractLogsRoute(options), contractEventsRoute(options)];
}

function contractLogsRoute(options: ContractLogsOptions): RouteModule {
  return (app, dependencies) => {
    const { parameters } = dependencies;
    defineListRoute(app, dependencies, {
      ...contractLogList(options, dependencies),
      path: '/api/v2.2/{address}/logs',
      operationId: 'getContractLogs',
      summary: 'List logs of a contract',
      description:
        'All logs emitted by a contract, by block number, newest first by default. If they are not all indexed, the request starts reading them from a node: `indexed` reports the progress, and later requests return more.',
      params: z.object({ address: contractParameter }),
      query: querySchema({
        chain: parameters.chain,
        block_number: parameters.fromBlock.openapi({
          description: 'Returns only this block, regardless of the range.',
        }),
        ...parameters.blockBounds,
        topic0: topicParameter('Hash of the event signature.'),
        topic1: topicParameter('First indexed argument of the event.'),
        topic2: topicParameter('Second indexed argument of the event.'),
        topic3: topicParameter('Third indexed argument of the event.'),
        limit: parameters.limit,
        order: parameters.order,
        cursor: parameters.cursor,
      }),
      response: { description: 'A page of logs', schema: contractLogsSchema },
      cursorName: 'contract-logs',
      filterOf: ({ address, block_number: block, topic0, topic1, topic2, topic3, ...query }) => {
        const requested = block === undefined ? query : { ...query, from_block: block, to_block: block };
        return contractLogFilter(address, requested, [topic0, topic1, topic2, topic3]);
      },
      firstPage: 1,
      present: ({ contract, indexed, logs }, envelope) => ({
        ...envelope,
        indexed: showIndexed(indexed),
        result: logs.map((log) => showContractLog(log, contract)),
      }),
    });
  };
}
