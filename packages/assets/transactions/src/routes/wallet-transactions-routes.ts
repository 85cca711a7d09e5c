import type { Chain } from '@chainstead/chains';
import { environmentSuffix } from '@chainstead/chains/environment-suffix';
import type { Address, Hash, Hex } from '@chainstead/core';
import {
  type ApiDependencies,
  addressParameter,
  defineApiError,
  indexedChain,
  inside,
  wire,
} from '@chainstead/http';
import {
  areTablesSpread,
  type ChainQuery,
  type PageBlock,
  TRANSACTION_ORDER,
  type TransactionPosition,
} from '@chainstead/pages';
import { z } from '@hono/zod-openapi';
import { callsOf, eventsOf } from '../abis/abi-books.ts';
import { readRetainedLogs } from '../indexed/stored-logs.ts';
import { readInternalTransactions, type TransactionToTrace } from '../internal-transactions.ts';
import type { TracingRequest } from '../on-demand-reads.ts';
import { transactionInputsKind } from '../reading/transaction-inputs-reader.ts';
import { transactionLogsKind } from '../reading/transaction-logs-reader.ts';
import { labelsOfTransactions, type TransactionRecord } from '../records/transaction-record.ts';
import { verboseWalletTransactionView, walletTransactionView } from '../records/transaction-response.ts';
import { indexedTransactionsView } from '../records/wallet-transactions-response.ts';
import { accountTransactionsPage } from '../stored/account-transactions-page.ts';
import { accountTransactions, transactions as transactionsDataset } from '../stored/datasets.ts';
import { readStored, type StoredTransaction } from '../stored/stored-transaction.ts';
import { olderMarks } from '../wallets/read-wallet-search.ts';
import { asksInternal, defineListRoute, includeParameter, type TransactionServices } from './routes.ts';

const LISTED =
  'Transactions sent or received by the address, or that created it, including failed ones, by block and index, newest first by default. Use `cursor` for the next page; new rows never shift pages.';

/** Clients of the hosted API recognize the text. */
const params = [{ address: addressParameter('address is not a valid hex address') }] as const;
const query = ['chain', 'blockBounds', { include: includeParameter }, 'limit', 'order'] as const;

/** The hosted API's maximum; it also bounds the reads of a page. */
const PAGE_SIZE_MAX = 100;

interface WalletPage {
  readonly page: number;
  readonly pageSize: number;
  readonly found: Awaited<ReturnType<typeof readPage>>;
}

const number = wire.wire(z.number());

function pageFields<Standard>({ cursor, result }: { readonly cursor: Standard; readonly result: Standard }) {
  return {
    page: number({ example: 1, description: 'Page number, from 1' }, ({ page }: WalletPage) => page),
    page_size: number({ example: 100 }, ({ pageSize }: WalletPage) => pageSize),
    cursor,
    indexed: inside(indexedTransactionsView)(({ found }: WalletPage) => found),
    result,
  };
}

/** docs/api/transactions.md#transactions-of-a-wallet */
export const walletTransactionsRoute = defineListRoute({
  path: '/api/v2.2/{address}',
  routedPath: '/api/v2.2/{address{0[xX][^/]*}}',
  operationId: 'getWalletTransactions',
  tag: 'Wallets',
  summary: 'List transactions by wallet',
  description: LISTED,
  params,
  query,
  limitMax: PAGE_SIZE_MAX,
  name: 'WalletTransactions',
  response: 'A page of transactions',
  position: TRANSACTION_ORDER.position,
  firstPage: 1,
  read: (request) => readPage(request, { withLogs: false }),
  view: walletTransactionView,
  row: (transaction, related) => [transaction, related],
  fields: pageFields,
});

export const verboseWalletTransactionsRoute = defineListRoute({
  path: '/api/v2.2/{address}/verbose',
  routedPath: '/api/v2.2/{address{0[xX][^/]*}}/verbose',
  operationId: 'getWalletTransactionsVerbose',
  tag: 'Wallets',
  summary: 'List decoded transactions by wallet',
  description: `${LISTED} Logs are served from the index if it contains all logs of the chain, otherwise read from a node, and proven by their block header. Returns 503 if the read exceeds \`ON_DEMAND_WAIT_MS\`.`,
  params,
  query,
  limitMax: PAGE_SIZE_MAX,
  name: 'WalletTransactionsVerbose',
  response: 'A page of transactions',
  position: TRANSACTION_ORDER.position,
  firstPage: 1,
  read: (request) => readPage(request, { withLogs: true }),
  view: verboseWalletTransactionView,
  row: (transaction, related) => [transaction, related],
  fields: pageFields,
});

interface PageRequest extends Pick<ApiDependencies, 'database' | 'reads' | 'logger'> {
  readonly api: ApiDependencies;
  readonly services: TransactionServices;
  readonly chain: Chain;
  readonly address: Address;
  readonly include: string;
  readonly query: ChainQuery<TransactionPosition>;
  readonly requester: string;
}

async function readPage(request: PageRequest, { withLogs }: { readonly withLogs: boolean }) {
  const { api, services, reads, chain, address, include, requester } = request;
  requireTransactions(api.chains, chain);
  const reading = { ...services, chain, requester };
  const search = await services.trackedWallets.ask(request, chain, address, requester);
  const query = { ...request.query, address };
  const list = await accountTransactionsPage(chain, query, await areTablesSpread(reads)).read(reads);
  const transactions = list.rows.map(readStored);
  const blockOf = ({ blockNumber }: StoredTransaction) => list.blockOf({ block_number: blockNumber });
  const found = { transactions, blockOf };
  const shown = transactions.map((transaction) => ({
    ...{ hash: transaction.record.hash, transaction: transaction.record.index },
    ...{ block: transaction.blockNumber, blockHash: blockOf(transaction).block_hash },
  }));
  const records = transactions.map(({ record }) => record);
  const [inputOf, logsOf, labelOf] = await Promise.all([
    readInputs(reading, found),
    withLogs
      ? readRetainedLogs(reads, chain, shown).then((stored) => readLogs(reading, found, stored))
      : (): [] => [],
    labelsOfTransactions(reads, chain, records),
  ]);
  const placed = transactions.map((transaction) => {
    const { block_number: number, block_hash: hash, block_timestamp: time } = blockOf(transaction);
    return {
      transaction: { ...transaction.record, input: inputOf(transaction), logs: logsOf(transaction) },
      block: { number, hash, timestamp: Date.parse(time) / 1_000 },
    };
  });
  const [booksOf, traced] = await Promise.all([
    services.abis.forPage(reads, chain, [...callsOf(placed), ...eventsOf(placed)]),
    asksInternal(include) ? readInternal(reading, placed) : undefined,
  ]);
  return {
    ...{ indexed: list.indexed, next: list.next, labelOf, booksOf, traced },
    areSendersRecovered: transactions.every(({ isSenderRecovered }) => isSenderRecovered),
    older: search === null ? null : olderMarks(search, chain),
    rows: placed.map((place) => ({
      ...place,
      internal: traced && (traced.get(place.transaction.hash) ?? null),
    })),
  };
}

function readInternal(
  reading: TracingRequest,
  placed: readonly Pick<TransactionToTrace, 'transaction' | 'block'>[],
) {
  const proof = reading.chain.proofPolicy === 'strict' ? 'receipts+transactions' : 'none';
  const proven = placed.map((transaction) => ({ ...transaction, proof, finalized: true }) as const);
  return readInternalTransactions(reading, proven);
}

/** @throws NotIndexedError, TransactionsNotKeptError (400) */
function requireTransactions(chains: ApiDependencies['chains'], chain: Chain): void {
  if (chain.transactions.mode === 'off') throw new TransactionsNotKeptError(chain);
  indexedChain(chains, chain.key, transactionsDataset.name, accountTransactions.name);
}

class TransactionsNotKeptError extends defineApiError('TRANSACTIONS_NOT_KEPT', (chain: Pick<Chain, 'key'>) => {
  const key = `TRANSACTIONS_${environmentSuffix(chain)}`;
  return {
    status: 400,
    message: `transactions of ${chain.key} are not indexed: set ${key}=all and restart`,
    details: { reason: 'not-indexed', configuration_key: key },
  };
}) {}

interface StoredPage {
  readonly transactions: readonly StoredTransaction[];
  blockOf(transaction: StoredTransaction): PageBlock;
}

/** Data of a block hash or transaction hash is permanent. */
const isLasting = (): boolean => true;

async function readInputs(
  { onDemandReads, chain, requester }: TracingRequest,
  { transactions }: StoredPage,
): Promise<(transaction: StoredTransaction) => Hex> {
  const hashes = transactions.flatMap(({ input, record }) => (input === null ? [record.hash] : [])).sort();
  const inputs = new Map<Hash, Hex>();
  if (hashes.length > 0) {
    const question = { hashes };
    const answer = await onDemandReads.read({
      chain,
      kind: transactionInputsKind,
      question,
      isLasting,
      requester,
    });
    for (const [index, hash] of hashes.entries()) inputs.set(hash, answer.inputs[index] ?? '0x');
  }
  return ({ input, record }) => input ?? inputs.get(record.hash) ?? '0x';
}

/** Others than `kept` are read by block. @throws as {@link OnDemandReads} */
async function readLogs(
  { onDemandReads, chain, requester }: TracingRequest,
  { transactions, blockOf }: StoredPage,
  kept: ReadonlyMap<Hash, TransactionRecord['logs']>,
): Promise<(transaction: StoredTransaction) => TransactionRecord['logs']> {
  const logs = new Map(kept);
  const missing = transactions.filter(({ record }) => !logs.has(record.hash));
  const byBlock = Map.groupBy(missing, (transaction) => blockOf(transaction).block_hash);
  const questions = Array.from(byBlock, ([block, ofBlock]) => {
    const sorted = ofBlock.toSorted((left, right) => left.record.index - right.record.index);
    return { block, transactions: sorted.map(({ record }) => record.hash) };
  });
  const answers = await onDemandReads.readAll(
    questions.map((question) => ({ chain, kind: transactionLogsKind, question, isLasting, requester })),
  );
  for (const [at, { transactions: hashes }] of questions.entries())
    for (const [index, hash] of hashes.entries()) logs.set(hash, answers[at]?.logs[index] ?? []);
  return ({ record }) => logs.get(record.hash) ?? [];
}
