import type { PageBlock } from '@chainstead/answers';
import { type Chain, environmentSuffix } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import {
  type ApiContext,
  type ApiDependencies,
  ApiError,
  addressParameter,
  blockBoundsSchema,
  boundsOfRows,
  errorResponses,
  givenBlockBounds,
  indexedChain,
  limitParameter,
  NO_BLOCK_BOUNDS,
  type Page,
  querySchema,
  type RouteModule,
} from '@chainstead/http';
import { createRoute, z } from '@hono/zod-openapi';
import { callsOf, eventsOf } from '../abis/asked-entries.ts';
import { readKeptLogs } from '../indexed/kept-logs.ts';
import {
  type InternalTransactionsByHash,
  type PlacedTransaction,
  readInternalTransactions,
  type TracingRequest,
} from '../internal-transactions.ts';
import { readInputs, readLogs } from '../reading/read-rest.ts';
import { labelsOfTransactions } from '../records/address-labels.ts';
import { decodedCall, showDecodedCall, showDecodedEvent } from '../records/decoded-response.ts';
import { showTransaction } from '../records/transaction-response.ts';
import {
  showIndexedTransactions,
  verboseWalletTransactionsSchema,
  walletTransactionsSchema,
} from '../records/wallet-transactions-response.ts';
import { accountTransactions, transactions as transactionsDataset } from '../stored/datasets.ts';
import { type AccountTransactionsPage, getAccountTransactions } from '../stored/get-account-transactions.ts';
import type { AskedWallets } from '../wallets/asked-wallets.ts';
import { olderMarks } from '../wallets/read-wallet-search.ts';
import {
  asksInternal,
  DEFAULT_CHAIN,
  includeParameter,
  requesterOf,
  type TransactionRouteOptions,
} from './route-options.ts';

interface WalletTransactionsOptions extends TransactionRouteOptions {
  readonly askedWallets: AskedWallets;
}

/** `GET /api/v2.2/{address}` and `…/verbose`: the transactions of a wallet (docs/provider-contract.md#transactions-of-a-wallet). */
export function walletTransactionsRoutes(options: WalletTransactionsOptions): readonly RouteModule[] {
  return [plainRoute(options), verboseRoute(options)];
}

function plainRoute(options: WalletTransactionsOptions): RouteModule {
  return (app, dependencies) => {
    const read = pageReader('wallet-transactions', options, dependencies);
    const documented = plainDocument(dependencies);
    app.openAPIRegistry.registerPath(documented);
    app.openapi({ ...documented, path: '/api/v2.2/{address{0[xX][^/]*}}', hide: true }, async (c) => {
      const { envelope, shown } = await read(c, c.req.valid('param').address, c.req.valid('query'));
      const result = shown.map(({ shown: { logs: _, ...transaction } }) => transaction);
      return c.json({ ...envelope, result }, 200);
    });
  };
}

function verboseRoute(options: WalletTransactionsOptions): RouteModule {
  return (app, dependencies) => {
    const read = pageReader('wallet-transactions-verbose', options, dependencies);
    const documented = verboseDocument(dependencies);
    app.openAPIRegistry.registerPath(documented);
    app.openapi({ ...documented, path: '/api/v2.2/{address{0[xX][^/]*}}/verbose', hide: true }, async (c) => {
      const { envelope, shown, booksOf } = await read(c, c.req.valid('param').address, c.req.valid('query'));
      const result = shown.map(({ call, shown: { logs, ...one } }) => ({
        ...one,
        logs: logs.map((log) => ({ ...log, decoded_event: showDecodedEvent(log, booksOf) })),
        decoded_call: showDecodedCall(call),
      }));
      return c.json({ ...envelope, result }, 200);
    });
  };
}

type RouteName = 'wallet-transactions' | 'wallet-transactions-verbose';

/** Opens the page that a request asks for, reads it, and what of it is not kept, and shapes what both routes show. */
function pageReader(
  route: RouteName,
  { lookUps, abis, askedWallets }: WalletTransactionsOptions,
  dependencies: ApiDependencies,
) {
  const { chains, paging, reads } = dependencies;
  const isVerbose = route === 'wallet-transactions-verbose';
  const runs = paging.forRoute({
    route,
    filter: filterSchema,
    position: positionSchema,
    defaults: { address: '', chain: DEFAULT_CHAIN, include: '', ...NO_BLOCK_BOUNDS },
    limitDefault: limitMax(dependencies),
  });
  return async (c: ApiContext, address: Address, query: WalletTransactionsParameters) => {
    const page = runs.open({
      cursor: query.cursor,
      limit: query.limit,
      order: query.order,
      filter: { address, chain: query.chain?.key, include: query.include, ...givenBlockBounds(query) },
    });
    const chain = chainWithTransactions(chains, page.filter.chain);
    const reading = { lookUps, chain, requester: requesterOf(c) };
    const search = await askedWallets.ask(dependencies, chain, address, reading.requester);
    const found = await getAccountTransactions(reads, chain, readingOf(page));
    const [inputOf, logsOf, labelOf] = await Promise.all([
      readInputs(reading, found),
      isVerbose
        ? readKeptLogs(reads, chain, shownOf(found)).then((kept) => readLogs(reading, found, kept))
        : (): [] => [],
      labelsOfTransactions(
        reads,
        chain,
        found.transactions.map(({ record }) => record),
      ),
    ]);
    const placed = found.transactions.map((one) => ({
      transaction: { ...one.record, input: inputOf(one), logs: logsOf(one) },
      block: placeOf(found.blockOf(one)),
    }));
    const [booksOf, traced] = await Promise.all([
      abis.forPage(reads, chain, [...callsOf(placed), ...eventsOf(placed)]),
      asksInternal(page.filter.include) ? readInternal(reading, placed) : undefined,
    ]);
    const next = nextPlace(page, found);
    return {
      envelope: {
        page: page.page + 1,
        page_size: page.limit,
        cursor: next === null ? null : runs.next(page, next),
        indexed: showIndexedTransactions(
          found.indexed,
          found.transactions.every(({ isSenderRecovered }) => isSenderRecovered),
          { traced, older: search === null ? null : olderMarks(search, chain) },
        ),
      },
      shown: placed.map(({ transaction, block }) => {
        const internal = traced === undefined ? undefined : (traced?.get(transaction.hash) ?? null);
        const call = decodedCall(transaction, block.number, booksOf);
        return { call, shown: showTransaction(transaction, block, labelOf, call?.label ?? null, internal) };
      }),
      booksOf,
    };
  };
}

/** What is kept of the index doesn't change under its block's hash. */
function readInternal(
  reading: TracingRequest,
  placed: readonly Pick<PlacedTransaction, 'transaction' | 'block'>[],
): Promise<InternalTransactionsByHash> {
  const proof = reading.chain.proofPolicy === 'strict' ? 'receipts+transactions' : 'none';
  return readInternalTransactions(
    reading,
    placed.map((one) => ({ ...one, proof, finalized: true })),
  );
}

function placeOf({ block_number: number, block_hash: hash, block_timestamp: time }: PageBlock) {
  return { number, hash, timestamp: Date.parse(time) / 1_000 };
}

/** As the hosted provider's; what is read for a page at once has such a bound, too. */
const PAGE_SIZE_MAX = 100;

function limitMax({ limits }: ApiDependencies): number {
  return Math.min(PAGE_SIZE_MAX, limits.pageLimitMax);
}

/** @throws NotIndexedError (400), TransactionsNotKeptError (400) */
function chainWithTransactions(chains: ApiDependencies['chains'], given: string): Chain {
  const chain = indexedChain(chains, given);
  if (chain.transactions.mode === 'off') throw new TransactionsNotKeptError(chain);
  return indexedChain(chains, given, transactionsDataset.name, accountTransactions.name);
}

/** A 400: no transactions of the chain are kept. */
class TransactionsNotKeptError extends ApiError {
  constructor(chain: Pick<Chain, 'key'>) {
    const key = `TRANSACTIONS_${environmentSuffix(chain)}`;
    super({
      code: 'TRANSACTIONS_NOT_KEPT',
      status: 400,
      message: `transactions of ${chain.key} are not indexed: set ${key}=all and restart`,
      details: { reason: 'not-indexed', configuration_key: key },
    });
  }
}

/** What a cursor is bound to. Names are those of the parameters, which errors repeat. */
const filterSchema = z.object({ address: z.string(), chain: z.string(), include: z.string(), ...blockBoundsSchema });
/** The last transaction of a page. */
const positionSchema = z.object({ block: z.int(), transaction: z.int() });

type TransactionsPage = Page<z.infer<typeof filterSchema>, z.infer<typeof positionSchema>>;

function readingOf({ filter, position, order, limit, upperBound }: TransactionsPage) {
  return {
    address: filter.address as Address,
    ...{ order, limit },
    ...boundsOfRows(filter),
    pinnedBlock: upperBound,
    after: position === null ? null : { blockNumber: position.block, transactionIndex: position.transaction },
  };
}

function shownOf({ transactions, blockOf }: AccountTransactionsPage) {
  return transactions.map((one) => ({
    ...{ hash: one.record.hash, blockNumber: one.blockNumber, transactionIndex: one.record.index },
    blockHash: blockOf(one).block_hash,
  }));
}

function nextPlace(page: TransactionsPage, { transactions, hasNext, newestBlock }: AccountTransactionsPage) {
  const last = transactions.at(-1);
  if (!hasNext || last === undefined) return null;
  return {
    position: { block: last.blockNumber, transaction: last.record.index },
    upperBound: page.upperBound ?? newestBlock ?? last.blockNumber,
  };
}

/** By this text clients of the hosted provider know the refusal of these two. */
const addressOfWallet = addressParameter('address is not a valid hex address');

function request(dependencies: ApiDependencies) {
  const { parameters } = dependencies;
  const max = limitMax(dependencies);
  return {
    params: z.object({ address: addressOfWallet }),
    query: querySchema({
      chain: parameters.chain,
      from_block: parameters.fromBlock,
      to_block: parameters.toBlock,
      from_date: parameters.fromDate,
      to_date: parameters.toDate,
      include: includeParameter,
      limit: limitParameter(max, max),
      order: parameters.order,
      cursor: parameters.cursor,
    }),
  };
}

type WalletTransactionsParameters = z.output<ReturnType<typeof request>['query']>;

const LISTED =
  'Transactions that a wallet sent or received, or a contract was created by, failed ones included; by block and place in it, newest first by default. Pages follow by `cursor`; what arrives meanwhile never shifts them.';

function plainDocument(dependencies: ApiDependencies) {
  return createRoute({
    method: 'get',
    path: '/api/v2.2/{address}',
    operationId: 'getWalletTransactions',
    tags: ['Transaction'],
    summary: "A wallet's transactions",
    description: LISTED,
    request: request(dependencies),
    responses: {
      200: {
        description: 'A page of transactions',
        content: { 'application/json': { schema: walletTransactionsSchema } },
      },
      ...errorResponses(400, 401, 429, 500, 503),
    },
  });
}

function verboseDocument(dependencies: ApiDependencies) {
  return createRoute({
    method: 'get',
    path: '/api/v2.2/{address}/verbose',
    operationId: 'getWalletTransactionsVerbose',
    tags: ['Transaction'],
    summary: "A wallet's transactions, with what their calls and logs mean",
    description: `${LISTED} Logs are of the index where all of the chain are kept, else read from a node, and proven by their block’s header; 503 where that takes longer than a request waits.`,
    request: request(dependencies),
    responses: {
      200: {
        description: 'A page of transactions',
        content: { 'application/json': { schema: verboseWalletTransactionsSchema } },
      },
      ...errorResponses(400, 401, 429, 500, 503),
    },
  });
}
