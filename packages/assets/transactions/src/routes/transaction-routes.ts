import type { Chain } from '@chainstead/chains';
import { type Hash, parseHash } from '@chainstead/core';
import { hexBytes, type ReadDatabase, sql } from '@chainstead/db';
import { readPackedPage } from '@chainstead/db/packed-rows';
import {
  type ApiDependencies,
  defineApiError,
  defineRoute,
  NotFoundError,
  type RouteModule,
  textParameter,
} from '@chainstead/http';
import { InconsistentPageError, readConsistentPage } from '@chainstead/pages';
import { z } from '@hono/zod-openapi';
import { callsOf, eventsOf } from '../abis/abi-books.ts';
import { logs } from '../contract-logs/dataset.ts';
import { readCoveredBlock } from '../indexed/find-covered-block.ts';
import { readStoredLogs } from '../indexed/stored-logs.ts';
import { readInternalTransactions } from '../internal-transactions.ts';
import type { OnDemandReads, TracingRequest } from '../on-demand-reads.ts';
import { type FoundTransaction, transactionKind } from '../reading/transaction-reader.ts';
import { decodedCall, showDecodedCall, showDecodedEvent } from '../records/decoded-response.ts';
import {
  internalTransactionSchema,
  showInternalTransactions,
  tracedMark,
} from '../records/internal-transaction-response.ts';
import { labelsOfTransactions, type TransactionRecord } from '../records/transaction-record.ts';
import { showTransaction, transactionSchema, verboseTransactionSchema } from '../records/transaction-response.ts';
import { transactions } from '../stored/datasets.ts';
import { readStored, STORED_COLUMNS, type StoredTransaction } from '../stored/stored-transaction.ts';
import { transactionKey } from '../stored/transaction-key.ts';
import {
  asksInternal,
  includeParameter,
  isNotModified,
  NOT_MODIFIED,
  readMarks,
  type TransactionRouteOptions,
} from './route-options.ts';

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

interface SourcedTransaction extends FoundTransaction {
  readonly source: 'indexed' | 'node';
}

/** From the index if complete, else a node. @throws NotFoundError, as {@link OnDemandReads.read} */
async function findTransaction(
  reads: ReadDatabase,
  { onDemandReads, chain, requester }: TracingRequest,
  hash: string,
): Promise<SourcedTransaction> {
  const stored = await findStoredTransaction(reads, chain, parseHash(hash));
  if (stored !== null) return { ...stored, source: 'indexed' };
  const { found } = await onDemandReads.read({
    chain,
    kind: transactionKind,
    question: { hash },
    isLasting: (answer) => answer.found?.finalized === true,
    requester,
  });
  if (found === null) throw new NotFoundError('Transaction not found');
  return { ...found, source: 'node' };
}

/** Null: no node provides traces. @throws as {@link OnDemandReads.read} */
async function internalOf(reading: TracingRequest, found: FoundTransaction) {
  const traced = await readInternalTransactions(reading, [found]);
  return traced?.get(found.transaction.hash) ?? null;
}

const HASH = 'a transaction hash (0x and 64 hexadecimal digits)';

const hashParameter = textParameter(HASH, (text) =>
  /^0x[0-9a-f]{64}$/i.test(text) ? text.toLowerCase() : undefined,
).openapi({
  type: 'string',
  pattern: '^0x[0-9a-fA-F]{64}$',
  example: '0x012b9b98e21664117ec0b499d726a39f492ac8bd402cca8bebcbd163b9f75760',
});

/** Null: part is not stored. @throws {InconsistentPageError} if replaced repeatedly meanwhile */
async function findStoredTransaction(
  database: ReadDatabase,
  chain: Chain,
  hash: Hash,
): Promise<FoundTransaction | null> {
  if (chain.transactions.mode !== 'all' || chain.logs !== 'all') return null;
  return readConsistentPage(() => readOnce(database, chain, hash));
}

async function readOnce(database: ReadDatabase, chain: Chain, hash: Hash): Promise<FoundTransaction | null> {
  const stored = await readRow(database, chain, hash);
  // Responses need calldata and a verified sender, else a node is read.
  if (stored === null || stored.input === null || !stored.isSenderRecovered) return null;
  const block = await readCoveredBlock(database, chain, stored.blockNumber, DATASETS);
  if (block === null) return null;
  const transaction = { ...stored.record, input: stored.input, logs: await readLogs(database, chain, stored) };
  if (!block.finalized) await requireSame(database, chain, { stored, block: block.hash });
  const { proof, finalized, number, timestamp } = block;
  return { block: { number, hash: block.hash, timestamp }, transaction, proof, finalized };
}

const DATASETS = [transactions.name, logs.name];

async function readRow(database: ReadDatabase, chain: Chain, hash: Hash): Promise<StoredTransaction | null> {
  const { rows } = await readPackedPage(
    database,
    STORED_COLUMNS,
    (select) =>
      sql`WITH found AS MATERIALIZED (SELECT * FROM transactions WHERE transaction_key = ${transactionKey(hash)}::bigint AND transaction_hash = ${hexBytes(hash)} AND chain_id = ${chain.id}
      ORDER BY block_number DESC LIMIT 1) SELECT ${select} FROM ${STORED_COLUMNS.fitting('found')}`,
  );
  const [row] = rows;
  return row === undefined ? null : readStored(row);
}

async function readLogs(
  database: ReadDatabase,
  chain: Chain,
  { blockNumber, record: { hash, index } }: StoredTransaction,
): Promise<TransactionRecord['logs']> {
  const logs = await readStoredLogs(database, chain, { block: blockNumber, transaction: index });
  if (logs.some(({ transactionHash }) => transactionHash !== hash)) throw new InconsistentPageError(blockNumber);
  return logs.map(({ record }) => record);
}

/** Separate reads are consistent if transaction and block are unchanged. */
async function requireSame(
  database: ReadDatabase,
  chain: Chain,
  { stored, block }: { readonly stored: StoredTransaction; readonly block: Hash },
): Promise<void> {
  const [again, blockAgain] = await Promise.all([
    readRow(database, chain, stored.record.hash),
    readCoveredBlock(database, chain, stored.blockNumber, DATASETS),
  ]);
  if (blockAgain?.hash !== block || JSON.stringify(again) !== JSON.stringify(stored))
    throw new InconsistentPageError(stored.blockNumber);
}
