import type { Chain } from '@chainstead/chains';
import { environmentSuffix } from '@chainstead/chains/environment-suffix';
import type { Address, Hash, Hex } from '@chainstead/core';
import {
  type ApiDependencies,
  addressParameter,
  blockBoundsSchema,
  chainQueryOf,
  defineApiError,
  defineListRoute,
  givenBlockBounds,
  indexedChain,
  limitParameter,
  type Page,
  querySchema,
  type RouteModule,
} from '@chainstead/http';
import { areTablesSpread, type PageBlock, TRANSACTION_ORDER, type TransactionPosition } from '@chainstead/pages';
import { z } from '@hono/zod-openapi';
import { callsOf, eventsOf } from '../abis/abi-books.ts';
import { readRetainedLogs } from '../indexed/stored-logs.ts';
import { readInternalTransactions, type TransactionToTrace } from '../internal-transactions.ts';
import type { TracingRequest } from '../on-demand-reads.ts';
import { transactionInputsKind } from '../reading/transaction-inputs-reader.ts';
import { transactionLogsKind } from '../reading/transaction-logs-reader.ts';
import { decodedCall, showDecodedCall, showDecodedEvent } from '../records/decoded-response.ts';
import { labelsOfTransactions, type TransactionRecord } from '../records/transaction-record.ts';
import { showTransaction } from '../records/transaction-response.ts';
import {
  showIndexedTransactions,
  verboseWalletTransactionsSchema,
  walletTransactionsSchema,
} from '../records/wallet-transactions-response.ts';
import { accountTransactionsPage } from '../stored/account-transactions-page.ts';
import { accountTransactions, transactions as transactionsDataset } from '../stored/datasets.ts';
import { readStored, type StoredTransaction } from '../stored/stored-transaction.ts';
import { olderMarks } from '../wallets/read-wallet-search.ts';
import type { TrackedWallets } from '../wallets/tracked-wallets.ts';
import { asksInternal, DEFAULT_CHAIN, includeParameter, type TransactionRouteOptions } from './route-options.ts';

interface WalletTransactionsOptions extends TransactionRouteOptions {
  readonly trackedWallets: TrackedWallets;
}

/** docs/api/transactions.md#transactions-of-a-wallet */
export function walletTransactionsRoutes(options: WalletTransactionsOptions): readonly RouteModule[] {
  return [plainRoute(options), verboseRoute(options)];
}

const LISTED =
  'Transactions sent or received by the address, or that created it, including failed ones, by block and index, newest first by default. Use `cursor` for the next page; new rows never shift pages.';

function plainRoute(options: WalletTransactionsOptions): RouteModule {
  return (app, dependencies) => {
    defineListRoute(app, dependencies, {
      ...shared(dependencies),
      path: '/api/v2.2/{address}',
      routedPath: '/api/v2.2/{address{0[xX][^/]*}}',
      operationId: 'getWalletTransactions',
      summary: 'List transactions by wallet',
      description: LISTED,
      response: { description: 'A page of transactions', schema: walletTransactionsSchema },
      cursorName: 'wallet-transactions',
      read: pageReader(options, dependencies, { withLogs: false }),
      present: ({ indexed, shown }, envelope) => ({
        ...envelope,
        indexed,
        result: shown.map(({ shown: { logs: _, ...transaction } }) => transaction),
      }),
    });
  };
}

function verboseRoute(options: WalletTransactionsOptions): RouteModule {
  return (app, dependencies) => {
    defineListRoute(app, dependencies, {
      ...shared(dependencies),
      path: '/api/v2.2/{address}/verbose',
      routedPath: '/api/v2.2/{address{0[xX][^/]*}}/verbose',
      operationId: 'getWalletTransactionsVerbose',
      summary: 'List decoded transactions by wallet',
      description: `${LISTED} Logs are served from the index if it contains all logs of the chain, otherwise read from a node, and proven by their block header. Returns 503 if the read exceeds \`ON_DEMAND_WAIT_MS\`.`,
      response: { description: 'A page of transactions', schema: verboseWalletTransactionsSchema },
      cursorName: 'wallet-transactions-verbose',
      read: pageReader(options, dependencies, { withLogs: true }),
      present: ({ indexed, shown, booksOf }, envelope) => ({
        ...envelope,
        indexed,
        result: shown.map(({ call, shown: { logs, ...transaction } }) => ({
          ...transaction,
          logs: logs.map((log) => ({ ...log, decoded_event: showDecodedEvent(log, booksOf) })),
          decoded_call: showDecodedCall(call),
        })),
      }),
    });
  };
}

/** The hosted API's maximum; it also bounds the reads of a page. */
const PAGE_SIZE_MAX = 100;

/** Clients of the hosted API recognize the text. */
const addressOfWallet = addressParameter('address is not a valid hex address');

const filterSchema = z.object({
  address: z.string(),
  chain: z.string().default(DEFAULT_CHAIN),
  include: z.string().default(''),
  ...blockBoundsSchema,
});

function shared({ limits, parameters }: ApiDependencies) {
  const limitMax = Math.min(PAGE_SIZE_MAX, limits.pageLimitMax);
  const query = querySchema({
    chain: parameters.chain,
    ...parameters.blockBounds,
    include: includeParameter,
    limit: limitParameter(limitMax, limitMax),
    order: parameters.order,
    cursor: parameters.cursor,
  });
  return {
    tags: ['Wallets'],
    params: z.object({ address: addressOfWallet }),
    query,
    // Checked by the reader, after the chain's own setting.
    datasets: [],
    filter: filterSchema,
    filterOf: ({
      address,
      chain,
      include,
      ...given
    }: { readonly address: Address } & z.output<typeof query>) => ({
      ...{ address, chain: chain?.key, include },
      ...givenBlockBounds(given),
    }),
    position: z.object(TRANSACTION_ORDER.fields),
    firstPage: 1 as const,
  };
}

interface TransactionsPage extends Page<z.infer<typeof filterSchema>, TransactionPosition> {
  readonly chain: Chain;
  readonly requester: string;
}

function pageReader(
  { onDemandReads, abis, trackedWallets }: WalletTransactionsOptions,
  dependencies: ApiDependencies,
  { withLogs }: { readonly withLogs: boolean },
) {
  const { chains, reads } = dependencies;
  return async (page: TransactionsPage) => {
    const { chain, filter, requester } = page;
    requireTransactions(chains, chain);
    const reading = { onDemandReads, chain, requester };
    const address = filter.address as Address;
    const search = await trackedWallets.ask(dependencies, chain, address, requester);
    const query = { ...chainQueryOf(page), address };
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
      abis.forPage(reads, chain, [...callsOf(placed), ...eventsOf(placed)]),
      asksInternal(filter.include) ? readInternal(reading, placed) : undefined,
    ]);
    return {
      indexed: showIndexedTransactions(
        list.indexed,
        transactions.every(({ isSenderRecovered }) => isSenderRecovered),
        { traced, older: search === null ? null : olderMarks(search, chain) },
      ),
      shown: placed.map(({ transaction, block }) => {
        const internal = traced === undefined ? undefined : (traced?.get(transaction.hash) ?? null);
        const call = decodedCall(transaction, block.number, booksOf);
        return { call, shown: showTransaction(transaction, block, labelOf, call?.label ?? null, internal) };
      }),
      booksOf,
      next: list.next,
    };
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
