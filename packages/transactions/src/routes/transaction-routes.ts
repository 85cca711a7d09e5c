import type { Chain } from '@chainstead/chains';
import type { ReadDatabase } from '@chainstead/db';
import {
  type ApiContext,
  type ApiDependencies,
  errorResponses,
  indexedChain,
  NotFoundError,
  querySchema,
  type RouteModule,
  textParameter,
} from '@chainstead/http';
import { createRoute, z } from '@hono/zod-openapi';
import { confirmationsOf } from '../newest-indexed.ts';
import { type FoundTransaction, transactionKind } from '../reading/transaction-reader.ts';
import { labelsOfTransactions } from '../records/address-labels.ts';
import { decodedCall, showDecodedCall, showDecodedEvent } from '../records/decoded-response.ts';
import { showTransaction, transactionSchema, verboseTransactionSchema } from '../records/transaction-response.ts';
import { DEFAULT_CHAIN, includeParameter, requesterOf, type TransactionRouteOptions } from './route-options.ts';

/**
 * `GET /api/v2.2/transaction/{transaction_hash}` and `…/verbose`: a transaction by its hash
 * (docs/provider-contract.md#transactions).
 */
export function transactionRoutes(options: TransactionRouteOptions): readonly RouteModule[] {
  return [plainRoute(options), verboseRoute(options)];
}

function plainRoute({ lookUps }: TransactionRouteOptions): RouteModule {
  return (app, dependencies) => {
    const { chains, reads } = dependencies;
    app.openapi(transaction(dependencies), async (c) => {
      const { include, ...query } = c.req.valid('query');
      const chain = indexedChain(chains, query.chain?.key ?? DEFAULT_CHAIN);
      const found = await findTransaction(lookUps, c, chain, c.req.valid('param').transaction_hash);
      return c.json(await show(reads, chain, found, isAsked(include)), 200);
    });
  };
}

function verboseRoute({ lookUps }: TransactionRouteOptions): RouteModule {
  return (app, dependencies) => {
    const { chains, reads } = dependencies;
    app.openapi(verboseTransaction(dependencies), async (c) => {
      const { include, ...query } = c.req.valid('query');
      const chain = indexedChain(chains, query.chain?.key ?? DEFAULT_CHAIN);
      const found = await findTransaction(lookUps, c, chain, c.req.valid('param').transaction_hash);
      const { logs, ...shown } = await show(reads, chain, found, isAsked(include));
      const decoded = logs.map((log) => ({ ...log, decoded_event: showDecodedEvent(log) }));
      const call = showDecodedCall(decodedCall(found.transaction));
      return c.json({ ...shown, logs: decoded, decoded_call: call }, 200);
    });
  };
}

function isAsked(include: string | undefined): boolean {
  return include !== undefined && include !== '';
}

async function findTransaction(
  lookUps: TransactionRouteOptions['lookUps'],
  c: ApiContext,
  chain: Chain,
  hash: string,
): Promise<FoundTransaction> {
  const { found } = await lookUps.read({
    chain,
    kind: transactionKind,
    question: { hash },
    isLasting: (answer) => answer.found?.finalized === true,
    requester: requesterOf(c),
  });
  if (found === null) throw new NotFoundError('Transaction not found');
  return found;
}

async function show(
  reads: ReadDatabase,
  chain: Chain,
  { block, transaction: record, proof, finalized }: FoundTransaction,
  asksTraces: boolean,
) {
  const [labelOf, confirmations] = await Promise.all([
    labelsOfTransactions(reads, chain, [record]),
    confirmationsOf(reads, chain, block.number),
  ]);
  const marks = { source: 'node' as const, proof, confirmations, finalized };
  return { ...showTransaction(record, block, labelOf, asksTraces), ...marks };
}

const HASH = 'a transaction hash (0x and 64 hexadecimal digits)';

const hashParameter = textParameter(HASH, (text) =>
  /^0x[0-9a-f]{64}$/i.test(text) ? text.toLowerCase() : undefined,
).openapi({
  type: 'string',
  pattern: '^0x[0-9a-fA-F]{64}$',
  example: '0x012b9b98e21664117ec0b499d726a39f492ac8bd402cca8bebcbd163b9f75760',
});

const READ = 'Read from a node, and proven by its block’s header; 503 where that takes longer than a request waits.';

function transaction({ parameters }: ApiDependencies) {
  return createRoute({
    method: 'get',
    path: '/api/v2.2/transaction/{transaction_hash}',
    operationId: 'getTransaction',
    tags: ['Transaction'],
    summary: 'A transaction by its hash',
    description: READ,
    request: {
      params: z.object({ transaction_hash: hashParameter }),
      query: querySchema({ chain: parameters.chain, include: includeParameter }),
    },
    responses: {
      200: { description: 'The transaction', content: { 'application/json': { schema: transactionSchema } } },
      ...errorResponses(400, 401, 404, 429, 500, 503),
    },
  });
}

function verboseTransaction({ parameters }: ApiDependencies) {
  return createRoute({
    method: 'get',
    path: '/api/v2.2/transaction/{transaction_hash}/verbose',
    operationId: 'getTransactionVerbose',
    tags: ['Transaction'],
    summary: 'A transaction by its hash, with what its call and logs mean',
    description: `${READ} Calls and events of standards and well-known contracts are decoded.`,
    request: {
      params: z.object({ transaction_hash: hashParameter }),
      query: querySchema({ chain: parameters.chain, include: includeParameter }),
    },
    responses: {
      200: { description: 'The transaction', content: { 'application/json': { schema: verboseTransactionSchema } } },
      ...errorResponses(400, 401, 404, 429, 500, 503),
    },
  });
}
