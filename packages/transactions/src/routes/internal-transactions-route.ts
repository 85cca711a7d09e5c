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

/**
 * `GET /api/v2.2/transaction/{transaction_hash}/internal-transactions`: the calls inside a transaction
 * (docs/provider-contract.md#internal-transactions).
 */
export function internalTransactionsRoute({ lookUps }: TransactionRouteOptions): RouteModule {
  return (app, dependencies) => {
    app.openapi(routeOf(dependencies), async (c) => {
      const chain = indexedChain(dependencies.chains, c.req.valid('query').chain?.key ?? DEFAULT_CHAIN);
      const found = await findTransaction(
        { reads: dependencies.reads, lookUps },
        c,
        chain,
        c.req.valid('param').transaction_hash,
      );
      const { block, transaction } = found;
      const place = { hash: transaction.hash, block };
      const shown = showInternalTransactions(place, await internalOf(lookUps, c, chain, found));
      if (shown === null) throw new NoTracesError(chain);
      return c.json(shown, 200);
    });
  };
}

/** A 400: an empty list would say that the transaction makes no calls. */
class NoTracesError extends ApiError {
  constructor({ key }: Pick<Chain, 'key'>) {
    super({
      code: 'NO_TRACES',
      status: 400,
      message: `no node of ${key} gives traces`,
      details: { reason: 'no-traces' },
    });
  }
}

function routeOf({ parameters }: ApiDependencies) {
  return createRoute({
    method: 'get',
    path: '/api/v2.2/transaction/{transaction_hash}/internal-transactions',
    operationId: 'getInternalTransactions',
    tags: ['Transaction'],
    summary: 'The calls inside a transaction',
    description:
      'Traced by a node and checked against the transaction, in the order of execution, without the outermost call. 400 where no node of the chain gives traces; 503 where tracing takes longer than a request waits.',
    request: {
      params: z.object({ transaction_hash: hashParameter }),
      query: querySchema({ chain: parameters.chain }),
    },
    responses: {
      200: {
        description: 'The calls',
        content: { 'application/json': { schema: z.array(internalTransactionSchema) } },
      },
      ...errorResponses(400, 401, 404, 429, 500, 503),
    },
  });
}
