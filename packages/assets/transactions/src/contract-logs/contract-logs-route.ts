import type { Address } from '@chainstead/core';
import { defineListRoute, querySchema, type RouteModule } from '@chainstead/http';
import { indexedSchema, type PageBlock, showIndexed } from '@chainstead/pages';
import { z } from '@hono/zod-openapi';
import { contractEventsRoute } from './contract-events-route.ts';
import {
  type ContractLogsOptions,
  contractLogFilter,
  contractLogList,
  contractParameter,
  topicParameter,
} from './contract-log-list.ts';
import type { ContractLog } from './contract-logs-page.ts';

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
      present: ({ contract, indexed, rows, blockOf }, envelope) => ({
        ...envelope,
        indexed: showIndexed(indexed),
        result: rows.map((log) => showContractLog(log, blockOf(log), contract)),
      }),
    });
  };
}

const hash = z.string().openapi({ pattern: '^0x[0-9a-f]{64}$' });

const contractLogSchema = z
  .object({
    transaction_hash: hash,
    address: z.string().openapi({ pattern: '^0x[0-9a-f]{40}$' }),
    block_timestamp: z.iso.datetime({ precision: 3 }).openapi({ example: '2021-05-07T11:08:35.000Z' }),
    block_number: z.string().openapi({ pattern: '^[0-9]+$', example: '12386788' }),
    block_hash: hash,
    data: z.string().openapi({ pattern: '^0x[0-9a-f]*$' }),
    topic0: hash.nullable(),
    topic1: hash.nullable(),
    topic2: hash.nullable(),
    topic3: hash.nullable(),
    transaction_index: z.int().min(0),
    log_index: z.int().min(0),
  })
  .openapi('ContractLog');

/** docs/api/transactions.md#contract-logs */
const contractLogsSchema = z
  .object({
    page: z.int().min(1).openapi({ description: 'Page number, from 1' }),
    page_size: z.int().min(1),
    cursor: z.string().nullable().openapi({ description: 'Cursor of the next page. null on the last page' }),
    indexed: indexedSchema,
    result: z.array(contractLogSchema),
  })
  .openapi('ContractLogs');

function showContractLog(
  log: ContractLog,
  block: PageBlock,
  address: Address,
): z.infer<typeof contractLogSchema> {
  const { topic0, topic1, topic2, topic3 } = log;
  return {
    transaction_hash: log.transaction_hash,
    address,
    block_timestamp: block.block_timestamp,
    block_number: String(block.block_number),
    block_hash: block.block_hash,
    data: `0x${log.data}`,
    ...{ topic0, topic1, topic2, topic3 },
    transaction_index: log.transaction_index,
    log_index: log.log_index,
  };
}
