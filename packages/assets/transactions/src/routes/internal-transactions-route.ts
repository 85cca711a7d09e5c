import type { Chain } from '@chainstead/chains';
import {
  type ApiDependencies,
  ApiError,
  errorResponses,
  indexedChain,
  querySchema,
  type RouteModule,
} from '@chainstead/http';
import { createRoute, z } from '@hono/zod-openapi';
import { internalTransactionSchema, showInternalTransactions } from '../records/internal-transaction-response.ts';
import { findTransaction, hashParameter, internalOf } from './find-transaction.ts';
import { DEFAULT_CHAIN, type TransactionRouteOptions } from './route-options.ts';

/** docs/api/transactions.md#internal-transactions */
export function internalTransactionsRoute({ onDemandReads }: TransactionRouteOptions): RouteModule {
  return (app, dependencies) => {
    app.openapi(routeOf(dependencies), async (c) => {
      const chain = indexedChain(dependencies.chains, c.req.valid('query').chain?.key ?? DEFAULT_CHAIN);
      const { reads } = dependencies;
      const found = await findTransaction({ reads, onDemandReads }, c, chain, c.req.valid('param').transaction_hash);
      const { block, transaction } = found;
      const place = { hash: transaction.hash, block };
      const shown = showInternalTransactions(place, await internalOf(onDemandReads, c, chain, found));
      if (shown === null) throw new NoTracesError(chain);
      return c.json(shown, 200);
    });
  };
}

/** An empty list would mean that the transaction makes no calls. */
class NoTracesError extends ApiError {
  constructor({ key }: Pick<Chain, 'key'>) {
    const message = `no node of ${key} gives traces`;
    super({ code: 'NO_TRACES', status: 400, message, details: { reason: 'no-traces' } });
  }
}

function routeOf({ parameters }: ApiDependencies) {
  return createRoute({
    method: 'get',
    path: '/api/v2.2/transaction/{transaction_hash}/internal-transactions',
    operationId: 'getInternalTransactions',
    tags: ['Blocks and transactions'],
    summary: 'List internal transactions of a transaction',
    description:
      'Traced by a node, verified against the transaction, in execution order, without the outermost call. Returns 400 if no node of the chain returns traces, and 503 if tracing exceeds `ON_DEMAND_WAIT_MS`.',
    request: {
      params: z.object({ transaction_hash: hashParameter }),
      query: querySchema({ chain: parameters.chain }),
    },
    responses: {
      200: {
        description: 'The internal transactions',
        content: { 'application/json': { schema: z.array(internalTransactionSchema) } },
      },
      ...errorResponses(400, 401, 404, 429, 500, 503),
    },
  });
}
