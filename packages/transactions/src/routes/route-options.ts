import type { Clock } from '@chainstead/core';
import { textParameter } from '@chainstead/http';
import type { AbiBooks } from '../abis/abi-books.ts';
import type { OnDemandReads } from '../on-demand-reads.ts';

/** Dependencies of the routes of transactions and blocks. */
export interface TransactionRouteOptions {
  readonly onDemandReads: OnDemandReads;
  readonly abis: AbiBooks;
  readonly clock: Clock;
}

export const DEFAULT_CHAIN = 'eth';

const INTERNAL_TRANSACTIONS = 'internal_transactions';

/** Whether internal transactions are requested. */
export function asksInternal(include: string | undefined): boolean {
  return include === INTERNAL_TRANSACTIONS;
}

/** Additional parts of a response; an empty text means none. */
export const includeParameter = textParameter(INTERNAL_TRANSACTIONS, (text) =>
  text === '' || text === INTERNAL_TRANSACTIONS ? text : undefined,
)
  .optional()
  .openapi({
    type: 'string',
    enum: [INTERNAL_TRANSACTIONS],
    description: 'Adds the internal transactions of each transaction. null if no node of the chain returns traces.',
  });
