import type { Address } from '@chainstead/core';
import { indexedSchema } from '@chainstead/data-api';
import type { DecodedEvent } from '@chainstead/decoding';
import { z } from '@hono/zod-openapi';
import { valuesOf } from './event-item.ts';
import type { ContractLog } from './get-contract-logs.ts';

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

export const contractEventsSchema = z
  .object({
    page: z.int().min(0).openapi({ description: 'Page number, from 0' }),
    page_size: z.int().min(1),
    cursor: z.string().nullable().openapi({ description: 'Cursor of the next page. null on the last page' }),
    skipped: z.int().min(0).openapi({ description: 'Number of logs on this page that the ABI item does not decode' }),
    indexed: indexedSchema,
    result: z.array(contractEventSchema),
  })
  .openapi('ContractEvents');

export function showContractEvent(
  { block, transactionHash }: ContractLog,
  address: Address,
  decoded: DecodedEvent,
): z.infer<typeof contractEventSchema> {
  return {
    transaction_hash: transactionHash,
    address,
    block_timestamp: block.block_timestamp,
    block_number: String(block.block_number),
    block_hash: block.block_hash,
    data: valuesOf(decoded),
  };
}
