import type { Hash } from '@chainstead/core';
import type { Match } from '../matching/match.ts';

/** Transactions that a match tells of, each once. */
export function transactionsOf({ logs, transactions, internalTransactions }: Match): ReadonlySet<Hash> {
  return new Set([
    ...transactions.map(({ hash }) => hash),
    ...logs.map(({ transactionHash }) => transactionHash),
    ...internalTransactions.map(({ transactionHash }) => transactionHash),
  ]);
}
