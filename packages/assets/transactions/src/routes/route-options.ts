import type { Clock } from '@chainstead/core';
import { textParameter } from '@chainstead/http';
import type { AbiBooks } from '../abis/abi-books.ts';
import type { OnDemandReads } from '../on-demand-reads.ts';

export interface TransactionRouteOptions {
  readonly onDemandReads: OnDemandReads;
  readonly abis: AbiBooks;
  readonly clock: Clock;
}

export const DEFAULT_CHAIN = 'eth';
const INTERNAL_TRANSACTIONS = 'internal_transactions';

export function asksInternal(include: string | undefined): boolean {
  return include === INTERNAL_TRANSACTIONS;
}

export const includeParameter = textParameter(INTERNAL_TRANSACTIONS, (text) =>
  text === '' || text === INTERNAL_TRANSACTIONS ? text : undefined,
)
  .optional()
  .openapi({
    type: 'string',
    enum: [INTERNAL_TRANSACTIONS],
    description:
      'Adds the internal transactions of each transaction. null if no node of the chain returns traces.',
  });
