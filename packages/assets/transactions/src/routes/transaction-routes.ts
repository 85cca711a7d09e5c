import type { Chain } from '@chainstead/chains';
import { type Hash, parseHash } from '@chainstead/core';
import { hexBytes, type ReadDatabase, sql } from '@chainstead/db';
import { readPackedPage } from '@chainstead/db/packed-rows';
import { type ApiContext, defineApiError, NotFoundError, textParameter } from '@chainstead/http';
import { InconsistentPageError, readConsistentPage } from '@chainstead/pages';
import { callsOf, eventsOf } from '../abis/abi-books.ts';
import { logs } from '../contract-logs/dataset.ts';
import { readCoveredBlock } from '../indexed/find-covered-block.ts';
import { readStoredLogs } from '../indexed/stored-logs.ts';
import { readInternalTransactions } from '../internal-transactions.ts';
import type { OnDemandReads, TracingRequest } from '../on-demand-reads.ts';
import { type FoundTransaction, transactionKind } from '../reading/transaction-reader.ts';
import { internalTransactionView, showInternalTransactions } from '../records/internal-transaction-response.ts';
import { labelsOfTransactions, type TransactionRecord } from '../records/transaction-record.ts';
import {
  type MarkedTransaction,
  type RelatedToTransactions,
  transactionView,
  verboseTransactionView,
} from '../records/transaction-response.ts';
import { transactions } from '../stored/datasets.ts';
import { readStored, STORED_COLUMNS, type StoredTransaction } from '../stored/stored-transaction.ts';
import { transactionKey } from '../stored/transaction-key.ts';
import {
  asksInternal,
  defineRoute,
  includeParameter,
  isNotModified,
  NOT_MODIFIED,
  readConfirmations,
  type Sourced,
  type TransactionServices,
} from './routes.ts';

const READ =
  'Served from the index if it contains all transactions and logs of the chain, otherwise read from a node; proven by its block header. Returns 503 if the read exceeds `ON_DEMAND_WAIT_MS`.';

const HASH = 'a transaction hash (0x and 64 hexadecimal digits)';

const hashParameter = textParameter(HASH, (text) =>
  /^0x[0-9a-f]{64}$/i.test(text) ? parseHash(text) : undefined,
).openapi({
  type: 'string',
  pattern: '^0x[0-9a-fA-F]{64}$',
  example: '0x012b9b98e21664117ec0b499d726a39f492ac8bd402cca8bebcbd163b9f75760',
});

const params = [{ transaction_hash: hashParameter }] as const;
const query = ['chain', { include: includeParameter }] as const;

/** docs/api/transactions.md#transactions */
export const transactionRoute = defineRoute({
  path: '/api/v2.2/transaction/{transaction_hash}',
  operationId: 'getTransaction',
  tag: 'Blocks and transactions',
  summary: 'Get a transaction by hash',
  description: READ,
  params,
  query,
  response: { description: 'The transaction', schema: transactionView.schema },
  otherResponses: NOT_MODIFIED,
  errors: [404],
  answer: (request) => answerTransaction(request, transactionView.show, { withEvents: false }),
});

export const verboseTransactionRoute = defineRoute({
  path: '/api/v2.2/transaction/{transaction_hash}/verbose',
  operationId: 'getTransactionVerbose',
  tag: 'Blocks and transactions',
  summary: 'Get a decoded transaction by hash',
  description: `${READ} Decodes calls and events of standards, well-known contracts, and imported ABIs and signatures.`,
  params,
  query,
  response: { description: 'The transaction', schema: verboseTransactionView.schema },
  otherResponses: NOT_MODIFIED,
  errors: [404],
  answer: (request) => answerTransaction(request, verboseTransactionView.show, { withEvents: true }),
});

interface TransactionRequest {
  readonly c: ApiContext;
  readonly services: TransactionServices;
  readonly reads: ReadDatabase;
  readonly transaction_hash: Hash;
  readonly include: string;
  readonly chain: Chain;
  readonly requester: string;
}

async function answerTransaction<Body extends Parameters<typeof isNotModified>[1]>(
  { c, services, reads, transaction_hash: hash, include, chain, requester }: TransactionRequest,
  show: (found: MarkedTransaction, related: RelatedToTransactions) => Body,
  { withEvents }: { readonly withEvents: boolean },
): Promise<Body | Response> {
  const reading = { ...services, chain, requester };
  const found = await findTransaction(reads, reading, hash);
  const internal = asksInternal(include) ? await internalOf(reading, found) : undefined;
  const [booksOf, labelOf, confirmations] = await Promise.all([
    services.abis.forPage(reads, chain, [...callsOf([found]), ...(withEvents ? eventsOf([found]) : [])]),
    labelsOfTransactions(reads, chain, [found.transaction]),
    readConfirmations(reads, chain, found.block.number),
  ]);
  const shown = show({ ...found, internal, confirmations }, { booksOf, labelOf });
  return internal !== null && isNotModified(c, shown) ? c.body(null, 304) : shown;
}

/** docs/api/transactions.md#internal-transactions */
export const internalTransactionsRoute = defineRoute({
  path: '/api/v2.2/transaction/{transaction_hash}/internal-transactions',
  operationId: 'getInternalTransactions',
  tag: 'Blocks and transactions',
  summary: 'List internal transactions of a transaction',
  description:
    'Traced by a node, verified against the transaction, in execution order, without the outermost call. Returns 400 if no node of the chain returns traces, and 503 if tracing exceeds `ON_DEMAND_WAIT_MS`.',
  params,
  query: ['chain'],
  response: { description: 'The internal transactions', schema: internalTransactionView.schema.array() },
  errors: [404],
  async answer({ services, reads, transaction_hash: hash, chain, requester }) {
    const reading = { ...services, chain, requester };
    const found = await findTransaction(reads, reading, hash);
    const shown = showInternalTransactions({ hash, block: found.block }, await internalOf(reading, found));
    if (!shown) throw new NoTracesError(chain);
    return shown;
  },
});

/** An empty list would mean that the transaction makes no calls. */
class NoTracesError extends defineApiError('NO_TRACES', ({ key }: Pick<Chain, 'key'>) => ({
  status: 400,
  message: `no node of ${key} gives traces`,
  details: { reason: 'no-traces' },
})) {}

/** From the index if complete, else a node. @throws NotFoundError, as {@link OnDemandReads.read} */
async function findTransaction(
  reads: ReadDatabase,
  { onDemandReads, chain, requester }: TracingRequest,
  hash: Hash,
): Promise<FoundTransaction & Sourced> {
  const stored = await findStoredTransaction(reads, chain, hash);
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
