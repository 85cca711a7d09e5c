import type { Clock } from '@chainstead/core';
import { type ApiContext, textParameter } from '@chainstead/http';
import type { AbiBooks } from '../abis/abi-books.ts';
import type { LookUps } from '../look-ups.ts';

/** What the routes of transactions and blocks work with. */
export interface TransactionRouteOptions {
  readonly lookUps: LookUps;
  readonly abis: AbiBooks;
  readonly clock: Clock;
}

export const DEFAULT_CHAIN = 'eth';

const INTERNAL_TRANSACTIONS = 'internal_transactions';

/** Whose request it is, for limits. */
export function requesterOf(c: ApiContext): string {
  return c.get('principal')?.id ?? 'open';
}

/** Whether internal transactions are asked for. */
export function asksInternal(include: string | undefined): boolean {
  return include === INTERNAL_TRANSACTIONS;
}

/** What an answer shall hold besides; an empty text is nothing. */
export const includeParameter = textParameter(INTERNAL_TRANSACTIONS, (text) =>
  text === '' || text === INTERNAL_TRANSACTIONS ? text : undefined,
)
  .optional()
  .openapi({
    type: 'string',
    enum: [INTERNAL_TRANSACTIONS],
    description: 'Adds the calls inside each transaction; null where no node of the chain gives traces.',
  });
