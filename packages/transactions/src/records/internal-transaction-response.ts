import { z } from '@hono/zod-openapi';
import type { InternalTransactionRecord } from './internal-transaction-record.ts';

const digits = (example: string) => z.string().openapi({ pattern: '^[0-9]+$', example });
const hash = z.string().openapi({ pattern: '^0x[0-9a-f]{64}$' });
const address = z.string().openapi({ pattern: '^0x[0-9a-f]{40}$' });
const hex = z.string().openapi({ pattern: '^0x[0-9a-f]*$' });

/** A call inside a transaction (docs/provider-contract.md#internal-transactions). */
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
      description: 'Of a creation, the new contract; the zero address where it failed and nothing tells',
    }),
    value: digits('650000000000000000').openapi({ description: 'Wei; 0 for calls that carry none' }),
    gas: digits('6721975').openapi({ description: '0 where the trace does not say' }),
    gas_used: digits('6721975').openapi({ description: '0 where the trace does not say' }),
    input: hex,
    output: hex,
    error: z.string().nullable().openapi({ example: 'execution reverted' }),
    reverted: z.literal(true).optional().openapi({ description: 'One that it was called by failed: no value moved' }),
  })
  .openapi('InternalTransaction');

/** Where internal transactions of an answer are from. */
export const tracesMarkSchema = z
  .enum(['indexed', 'on-demand', 'none'])
  .openapi({ description: 'Where traces are from; none: no node of the chain gives them' });

/** What `include=internal_transactions` adds to the marks of a single answer. */
export const tracedMarkShape = {
  indexed: z.object({ traces: tracesMarkSchema }).optional().openapi({ description: 'Only with include' }),
};

/** @param internal undefined where the request does not include them, null where no node gives traces */
export function tracedMark(internal: unknown): { readonly indexed?: { readonly traces: 'on-demand' | 'none' } } {
  return internal === undefined ? {} : { indexed: { traces: internal === null ? 'none' : 'on-demand' } };
}

/** Where a call's transaction is. */
interface Place {
  readonly hash: string;
  readonly block: { readonly number: number; readonly hash: string };
}

/** @param calls null where no node gives traces, which is told apart from a transaction without calls */
export function showInternalTransactions(
  { hash: transactionHash, block }: Place,
  calls: readonly InternalTransactionRecord[] | null,
): z.infer<typeof internalTransactionSchema>[] | null {
  if (calls === null) return null;
  return calls.map(({ isReverted, gasUsed, ...call }) => ({
    transaction_hash: transactionHash,
    block_number: block.number,
    block_hash: block.hash,
    type: call.type,
    from: call.from,
    to: call.to,
    value: call.value,
    gas: call.gas,
    gas_used: gasUsed,
    input: call.input,
    output: call.output,
    error: call.error,
    ...(isReverted && { reverted: true as const }),
  }));
}
