import type { Chain } from '@chainstead/chains';
import type { ReadDatabase } from '@chainstead/db';
import { type ApiDependencies, errorResponses, indexedChain, querySchema, type RouteModule } from '@chainstead/http';
import { createRoute, z } from '@hono/zod-openapi';
import type { BooksOf } from '../abis/abi-books.ts';
import { callsOf, eventsOf } from '../abis/requested-entries.ts';
import { labelsOfTransactions } from '../records/address-labels.ts';
import { decodedCall, showDecodedCall, showDecodedEvent } from '../records/decoded-response.ts';
import type { InternalTransactionRecord } from '../records/internal-transaction-record.ts';
import { tracedMark } from '../records/internal-transaction-response.ts';
import { showTransaction, transactionSchema, verboseTransactionSchema } from '../records/transaction-response.ts';
import { findTransaction, hashParameter, internalOf, type SourcedTransaction } from './find-transaction.ts';
import { isNotModified, NOT_MODIFIED } from './is-not-modified.ts';
import { readMarks } from './read-marks.ts';
import { asksInternal, DEFAULT_CHAIN, includeParameter, type TransactionRouteOptions } from './route-options.ts';

/** docs/api/transactions.md#transactions */
export function transactionRoutes(options: TransactionRouteOptions): readonly RouteModule[] {
  return [plainRoute(options), verboseRoute(options)];
}

function plainRoute({ onDemandReads, abis }: TransactionRouteOptions): RouteModule {
  return (app, dependencies) => {
    const { chains, reads } = dependencies;
    app.openapi(transaction(dependencies), async (c) => {
      const { include, ...query } = c.req.valid('query');
      const chain = indexedChain(chains, query.chain?.key ?? DEFAULT_CHAIN);
      const found = await findTransaction({ reads, onDemandReads }, c, chain, c.req.valid('param').transaction_hash);
      const internal = asksInternal(include) ? await internalOf(onDemandReads, c, chain, found) : undefined;
      const [booksOf, shownBy] = await Promise.all([
        abis.forPage(reads, chain, callsOf([found])),
        showingOf(reads, chain, found),
      ]);
      const answer = shownBy(callOf(found, booksOf), internal);
      if (internal !== null && isNotModified(c, answer)) return c.body(null, 304);
      return c.json(answer, 200);
    });
  };
}

function verboseRoute({ onDemandReads, abis }: TransactionRouteOptions): RouteModule {
  return (app, dependencies) => {
    const { chains, reads } = dependencies;
    app.openapi(verboseTransaction(dependencies), async (c) => {
      const { include, ...query } = c.req.valid('query');
      const chain = indexedChain(chains, query.chain?.key ?? DEFAULT_CHAIN);
      const found = await findTransaction({ reads, onDemandReads }, c, chain, c.req.valid('param').transaction_hash);
      const internal = asksInternal(include) ? await internalOf(onDemandReads, c, chain, found) : undefined;
      const [booksOf, shownBy] = await Promise.all([
        abis.forPage(reads, chain, [...callsOf([found]), ...eventsOf([found])]),
        showingOf(reads, chain, found),
      ]);
      const call = callOf(found, booksOf);
      const { logs, ...shown } = shownBy(call, internal);
      const decoded = logs.map((log) => ({ ...log, decoded_event: showDecodedEvent(log, booksOf) }));
      const answer = { ...shown, logs: decoded, decoded_call: showDecodedCall(call) };
      if (internal !== null && isNotModified(c, answer)) return c.body(null, 304);
      return c.json(answer, 200);
    });
  };
}

function callOf({ transaction: made, block }: SourcedTransaction, booksOf: BooksOf) {
  return decodedCall(made, block.number, booksOf);
}

async function showingOf(reads: ReadDatabase, chain: Chain, found: SourcedTransaction) {
  const { block, transaction: record } = found;
  const [labelOf, marks] = await Promise.all([
    labelsOfTransactions(reads, chain, [record]),
    readMarks(reads, chain, block.number, found),
  ]);
  return (call: ReturnType<typeof callOf>, internal?: readonly InternalTransactionRecord[] | null) => ({
    ...showTransaction(record, block, labelOf, call?.label ?? null, internal),
    ...{ ...marks, ...tracedMark(internal) },
  });
}

const READ =
  'Served from the index if it contains all transactions and logs of the chain, otherwise read from a node; proven by its block header. Returns 503 if the read exceeds `ON_DEMAND_WAIT_MS`.';

function transaction({ parameters }: ApiDependencies) {
  return createRoute({
    method: 'get',
    path: '/api/v2.2/transaction/{transaction_hash}',
    operationId: 'getTransaction',
    tags: ['Blocks and transactions'],
    summary: 'Get a transaction by hash',
    description: READ,
    request: {
      params: z.object({ transaction_hash: hashParameter }),
      query: querySchema({ chain: parameters.chain, include: includeParameter }),
    },
    responses: {
      200: { description: 'The transaction', content: { 'application/json': { schema: transactionSchema } } },
      ...NOT_MODIFIED,
      ...errorResponses(400, 401, 404, 429, 500, 503),
    },
  });
}

function verboseTransaction({ parameters }: ApiDependencies) {
  return createRoute({
    method: 'get',
    path: '/api/v2.2/transaction/{transaction_hash}/verbose',
    operationId: 'getTransactionVerbose',
    tags: ['Blocks and transactions'],
    summary: 'Get a decoded transaction by hash',
    description: `${READ} Decodes calls and events of standards, well-known contracts, and imported ABIs and signatures.`,
    request: {
      params: z.object({ transaction_hash: hashParameter }),
      query: querySchema({ chain: parameters.chain, include: includeParameter }),
    },
    responses: {
      200: { description: 'The transaction', content: { 'application/json': { schema: verboseTransactionSchema } } },
      ...NOT_MODIFIED,
      ...errorResponses(400, 401, 404, 429, 500, 503),
    },
  });
}
