import { z } from '@hono/zod-openapi';
import type { BlockRecord } from './block-record.ts';
import type { InternalTransactionRecord } from './internal-transaction-record.ts';

const digits = (example: string) => z.string().openapi({ pattern: '^[0-9]+$', example });
const hash = z.string().openapi({ pattern: '^0x[0-9a-f]{64}$' });
const address = z.string().openapi({ pattern: '^0x[0-9a-f]{40}$' });
const hex = z.string().openapi({ pattern: '^0x[0-9a-f]*$' });

/** docs/api/transactions.md#internal-transactions */
export const internalTransactionSchema = z
  .object({
    transaction_hash: hash,
    block_number: z.int().min(0).openapi({ example: 15_000_000 }),
    block_hash: hash,
    type: z.string().openapi({
      example: 'CALL',
      description: 'CALL, STATICCALL, DELEGATECALL, CALLCODE, CREATE, CREATE2 or SELFDESTRUCT',
    }),
    from: address,
    to: address.openapi({
      description:
        'For a contract creation, the new contract. The zero address if the creation failed and the address is unknown',
    }),
    value: digits('650000000000000000').openapi({ description: 'In wei. 0 for calls without value' }),
    gas: digits('6721975').openapi({ description: '0 if the trace does not contain it' }),
    gas_used: digits('6721975').openapi({ description: '0 if the trace does not contain it' }),
    input: hex,
    output: hex,
    error: z.string().nullable().openapi({ example: 'execution reverted' }),
    reverted: z
      .literal(true)
      .optional()
      .openapi({ description: 'true if a parent call failed, so that no value moved' }),
  })
  .openapi('InternalTransaction');

export const tracesMarkSchema = z
  .enum(['indexed', 'on-demand', 'none'])
  .openapi({ description: 'Source of the traces. none: no node of the chain returns traces' });

export const tracedMarkShape = {
  indexed: z.object({ traces: tracesMarkSchema }).optional().openapi({ description: 'Only with include' }),
};

/** Undefined: not requested; null: no node provides traces. */
export function tracedMark(internal: unknown): { readonly indexed?: { readonly traces: 'on-demand' | 'none' } } {
  return internal === undefined ? {} : { indexed: { traces: internal === null ? 'none' : 'on-demand' } };
}

/** `calls` null: no node provides traces. */
export function showInternalTransactions(
  {
    hash: transactionHash,
    block,
  }: { readonly hash: string; readonly block: Pick<BlockRecord, 'number' | 'hash'> },
  calls: readonly InternalTransactionRecord[] | null,
): z.infer<typeof internalTransactionSchema>[] | null {
  if (calls === null) return null;
  return calls.map(({ type, from, to, value, gas, gasUsed, input, output, error, isReverted }) => ({
    transaction_hash: transactionHash,
    block_number: block.number,
    block_hash: block.hash,
    ...{ type, from, to, value, gas, gas_used: gasUsed, input, output, error },
    ...(isReverted && { reverted: true as const }),
  }));
}
