import type { PageEnvelope } from '@chainstead/http';
import { indexedSchema, showIndexed } from '@chainstead/pages';
import { z } from '@hono/zod-openapi';
import type { EventsPage } from './events-page.ts';

const rowSchema = z.object({
  block_number: z.string().openapi({ description: 'Block number in decimal digits', example: '18500000' }),
  block_hash: z.string().openapi({ description: 'Hash of the block' }),
  block_timestamp: z.string().openapi({ description: 'Time of the block, ISO 8601 in UTC' }),
  transaction_hash: z.string().openapi({ description: 'Hash of the transaction' }),
  transaction_index: z.int().openapi({ description: 'Position of the transaction in the block' }),
  log_index: z.int().openapi({ description: 'Position of the log in the block' }),
  contract_address: z.string().openapi({ description: 'Address that emitted the event, in lower case' }),
  params: z.record(z.string(), z.unknown()).openapi({
    description:
      'Values by column: integers in decimal digits, bytes and addresses in lower-case hexadecimal, arrays and tuples as JSON. Indexed strings, bytes, arrays and tuples are Keccak-256 hashes',
    example: { owner: '0x83f20f44975d03b1b09e64809b757c47f942beea', assets: '1000000' },
  }),
});

export const eventsSchema = z
  .object({
    page: z.int().min(0).openapi({ description: 'Page number, from 0' }),
    page_size: z.int().min(1).openapi({ description: 'Requested rows per page' }),
    cursor: z.string().nullable().openapi({ description: 'Cursor of the next page. null on the last page' }),
    indexed: indexedSchema,
    result: z.array(rowSchema).openapi({ description: 'Decoded events' }),
  })
  .openapi('ContractEvents');

export function showEvents({ rows, indexed }: EventsPage, envelope: PageEnvelope): z.infer<typeof eventsSchema> {
  return {
    ...envelope,
    indexed: showIndexed(indexed),
    result: rows.map(({ block, contract, params, ...row }) => ({
      block_number: String(row.block_number),
      block_hash: block.block_hash,
      block_timestamp: block.block_timestamp,
      transaction_hash: row.transaction_hash,
      transaction_index: row.transaction_index,
      log_index: row.log_index,
      contract_address: contract,
      params,
    })),
  };
}
