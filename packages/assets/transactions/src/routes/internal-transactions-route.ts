import type { Chain } from '@chainstead/chains';
import { defineApiError, defineRoute, type RouteModule } from '@chainstead/http';
import { z } from '@hono/zod-openapi';
import { internalTransactionSchema, showInternalTransactions } from '../records/internal-transaction-response.ts';
import { findTransaction, hashParameter, internalOf } from './find-transaction.ts';
import type { TransactionRouteOptions } from './route-options.ts';

/** docs/api/transactions.md#internal-transactions */
export function internalTransactionsRoute({ onDemandReads }: TransactionRouteOptions): RouteModule {
  return (app, dependencies) => {
    const { reads, parameters } = dependencies;
    defineRoute(app, dependencies, {
      path: '/api/v2.2/transaction/{transaction_hash}/internal-transactions',
      operationId: 'getInternalTransactions',
      tags: ['Blocks and transactions'],
      summary: 'List internal transactions of a transaction',
      description:
        'Traced by a node, verified against the transaction, in execution order, without the outermost call. Returns 400 if no node of the chain returns traces, and 503 if tracing exceeds `ON_DEMAND_WAIT_MS`.',
      params: { transaction_hash: hashParameter },
      query: { chain: parameters.chain },
      response: { description: 'The internal transactions', schema: z.array(internalTransactionSchema) },
      errors: [404],
      async answer({ transaction_hash: hash, chain, requester }) {
        const reading = { onDemandReads, chain, requester };
        const found = await findTransaction(reads, reading, hash);
        const { block, transaction } = found;
        const place = { hash: transaction.hash, block };
        const shown = showInternalTransactions(place, await internalOf(reading, found));
        if (shown === null) throw new NoTracesError(chain);
        return shown;
      },
    });
  };
}

/** An empty list would mean that the transaction makes no calls. */
class NoTracesError extends defineApiError('NO_TRACES', ({ key }: Pick<Chain, 'key'>) => ({
  status: 400,
  message: `no node of ${key} gives traces`,
  details: { reason: 'no-traces' },
})) {}
