import { view, wire } from '@chainstead/http';
import { z } from '@hono/zod-openapi';
import type { BlockRecord } from './block-record.ts';
import type { InternalTransactionRecord } from './internal-transaction-record.ts';
import type { TransactionRecord } from './transaction-record.ts';

const { address, count, digits, hash, text } = wire;
export const bytes = wire.wire(z.string().openapi({ pattern: '^0x[0-9a-f]*$' }));

interface TracedPlace {
  readonly block: Pick<BlockRecord, 'number' | 'hash'>;
  readonly hash: TransactionRecord['hash'];
}

/** docs/api/transactions.md#internal-transactions */
export const internalTransactionView = view(
  'InternalTransaction',
  ({ hash, block }: TracedPlace, call: InternalTransactionRecord) => ({ ...call, hash, block }),
  {
    transaction_hash: hash((call) => call.hash),
    block_number: count({ example: 15_000_000 }, ({ block }) => block.number),
    block_hash: hash(({ block }) => block.hash),
    type: text({
      example: 'CALL',
      description: 'CALL, STATICCALL, DELEGATECALL, CALLCODE, CREATE, CREATE2 or SELFDESTRUCT',
    }),
    from: address(),
    to: address(
      'For a contract creation, the new contract. The zero address if the creation failed and the address is unknown',
    ),
    value: digits({ example: '650000000000000000', description: 'In wei. 0 for calls without value' }),
    gas: digits({ example: '6721975', description: '0 if the trace does not contain it' }),
    gas_used: digits({ example: '6721975', description: '0 if the trace does not contain it' }, 'gasUsed'),
    input: bytes(),
    output: bytes(),
    error: text.orNull({ example: 'execution reverted' }),
    reverted: wire
      .wire(z.literal(true))
      .orAbsent('true if a parent call failed, so that no value moved', ({ isReverted }) => isReverted || null),
  },
);

/** Undefined: not requested; null: no node provides traces. */
export type Traced = readonly InternalTransactionRecord[] | null | undefined;

export function showInternalTransactions<None extends null | undefined>(
  place: TracedPlace,
  calls: readonly InternalTransactionRecord[] | None,
) {
  return calls ? calls.map((call) => internalTransactionView.show(place, call)) : calls;
}

export const tracesMark = z
  .enum(['indexed', 'on-demand', 'none'])
  .openapi({ description: 'Source of the traces. none: no node of the chain returns traces' });

/** Null: not requested. `traced` null: no node provides traces. */
export function tracedMark(traced: unknown): { readonly traces: 'on-demand' | 'none' } | null {
  return traced === undefined ? null : { traces: traced === null ? 'none' : 'on-demand' };
}
