import type { Address } from '@chainstead/core';
import { indexedSchema } from '@chainstead/data-api';
import { z } from '@hono/zod-openapi';
import type { ContractLog } from './get-contract-logs.ts';

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

export const contractLogsSchema = z
  .object({
    page: z.int().min(1).openapi({ description: 'Page number, from 1' }),
    page_size: z.int().min(1),
    cursor: z.string().nullable().openapi({ description: 'Cursor of the next page. null on the last page' }),
    indexed: indexedSchema,
    result: z.array(contractLogSchema),
  })
  .openapi('ContractLogs');

export function showContractLog(log: ContractLog, address: Address): z.infer<typeof contractLogSchema> {
  const { block, topics } = log;
  return {
    transaction_hash: log.transactionHash,
    address,
    block_timestamp: block.block_timestamp,
    block_number: String(block.block_number),
    block_hash: block.block_hash,
    data: log.data,
    topic0: topics[0] ?? null,
    topic1: topics[1] ?? null,
    topic2: topics[2] ?? null,
    topic3: topics[3] ?? null,
    transaction_index: log.transactionIndex,
    log_index: log.logIndex,
  };
}
