import type { Chain } from '@chainstead/chains';
import { type ApiDependencies, defineRoute, type RouteModule } from '@chainstead/http';
import { callsOf, eventsOf } from '../abis/requested-entries.ts';
import { labelsOfTransactions } from '../records/address-labels.ts';
import { decodedCall, showDecodedCall, showDecodedEvent } from '../records/decoded-response.ts';
import { tracedMark } from '../records/internal-transaction-response.ts';
import { showTransaction, transactionSchema, verboseTransactionSchema } from '../records/transaction-response.ts';
import { findTransaction, hashParameter, internalOf } from './find-transaction.ts';
import { isNotModified, NOT_MODIFIED } from './is-not-modified.ts';
import { readMarks } from './read-marks.ts';
import { asksInternal, includeParameter, type TransactionRouteOptions } from './route-options.ts';

/** docs/api/transactions.md#transactions */
export function transactionRoutes(options: TransactionRouteOptions): readonly RouteModule[] {
  return [plainRoute(options), verboseRoute(options)];
}

const READ =
  'Served from the index if it contains all transactions and logs of the chain, otherwise read from a node; proven by its block header. Returns 503 if the read exceeds `ON_DEMAND_WAIT_MS`.';

function plainRoute(options: TransactionRouteOptions): RouteModule {
  return (app, dependencies) => {
    const { parameters } = dependencies;
    defineRoute(app, dependencies, {
      path: '/api/v2.2/transaction/{transaction_hash}',
      operationId: 'getTransaction',
      tags: ['Blocks and transactions'],
      summary: 'Get a transaction by hash',
      description: READ,
      params: { transaction_hash: hashParameter },
      query: { chain: parameters.chain, include: includeParameter },
      response: { description: 'The transaction', schema: transactionSchema },
      otherResponses: NOT_MODIFIED,
      errors: [404],
      async answer({ c, ...request }) {
        const { shown, isLasting } = await readTransaction(options, dependencies, request, { withEvents: false });
        return isLasting && isNotModified(c, shown) ? c.body(null, 304) : shown;
      },
    });
  };
}

function verboseRoute(options: TransactionRouteOptions): RouteModule {
  return (app, dependencies) => {
    const { parameters } = dependencies;
    defineRoute(app, dependencies, {
      path: '/api/v2.2/transaction/{transaction_hash}/verbose',
      operationId: 'getTransactionVerbose',
      tags: ['Blocks and transactions'],
      summary: 'Get a decoded transaction by hash',
      description: `${READ} Decodes calls and events of standards, well-known contracts, and imported ABIs and signatures.`,
      params: { transaction_hash: hashParameter },
      query: { chain: parameters.chain, include: includeParameter },
      response: { description: 'The transaction', schema: verboseTransactionSchema },
      otherResponses: NOT_MODIFIED,
      errors: [404],
      async answer({ c, ...request }) {
        const found = await readTransaction(options, dependencies, request, { withEvents: true });
        const { shown, call, booksOf, isLasting } = found;
        const { logs, ...transaction } = shown;
        const decoded = logs.map((log) => ({ ...log, decoded_event: showDecodedEvent(log, booksOf) }));
        const answer = { ...transaction, logs: decoded, decoded_call: showDecodedCall(call) };
        return isLasting && isNotModified(c, answer) ? c.body(null, 304) : answer;
      },
    });
  };
}

interface TransactionRequest {
  readonly transaction_hash: string;
  readonly include?: string | undefined;
  readonly chain: Chain;
  readonly requester: string;
}

async function readTransaction(
  { onDemandReads, abis }: TransactionRouteOptions,
  { reads }: ApiDependencies,
  { transaction_hash: hash, include, chain, requester }: TransactionRequest,
  { withEvents }: { readonly withEvents: boolean },
) {
  const reading = { onDemandReads, chain, requester };
  const found = await findTransaction(reads, reading, hash);
  const { block, transaction } = found;
  const internal = asksInternal(include) ? await internalOf(reading, found) : undefined;
  const [booksOf, labelOf, marks] = await Promise.all([
    abis.forPage(reads, chain, [...callsOf([found]), ...(withEvents ? eventsOf([found]) : [])]),
    labelsOfTransactions(reads, chain, [transaction]),
    readMarks(reads, chain, block.number, found),
  ]);
  const call = decodedCall(transaction, block.number, booksOf);
  const shown = showTransaction(transaction, block, labelOf, call?.label ?? null, internal);
  return { shown: { ...shown, ...marks, ...tracedMark(internal) }, call, booksOf, isLasting: internal !== null };
}
