import { showIndexed } from '@chainstead/answers';
import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import {
  type ApiDependencies,
  blockBoundsSchema,
  booleanParameter,
  boundsOfRows,
  errorResponses,
  givenBlockBounds,
  indexedChain,
  NO_BLOCK_BOUNDS,
  type Page,
  querySchema,
  type RouteModule,
  textParameter,
} from '@chainstead/http';
import { callsOf, eventsOf, olderMarks, readInternalTransactions } from '@chainstead/transactions';
import { createRoute, z } from '@hono/zod-openapi';
import {
  type FoundTransaction,
  getWalletHistory,
  type HistoryPage,
  type WantedTransaction,
} from '../page/get-wallet-history.ts';
import type { HistoryQuery } from '../page/history-query.ts';
import { LEG_DATASETS } from '../page/places-statement.ts';
import { readRecords } from '../reading/read-records.ts';
import { walletHistorySchema } from '../records/history-response.ts';
import { showHistoryRow } from '../records/show-history-row.ts';
import type { HistoryRouteOptions } from './history-route-options.ts';

/** `GET /api/v2.2/wallets/{address}/history`: what a wallet did (docs/provider-contract.md#wallet-history). */
export function createWalletHistoryRoute({
  abis,
  askedWallets,
  lookUps,
  walletHistory,
}: HistoryRouteOptions): RouteModule {
  return (app, dependencies) => {
    const { chains, database, limits, logger, paging, reads } = dependencies;
    const runs = paging.forRoute({
      route: 'wallet-history',
      filter: filterSchema,
      position: positionSchema,
      defaults: DEFAULTS,
      limitDefault: Math.min(PAGE_SIZE_DEFAULT, limits.pageLimitMax),
    });
    app.openapi(routeOf(dependencies), async (c) => {
      const asked = c.req.valid('query');
      const page = runs.open({
        ...{ cursor: asked.cursor, limit: asked.limit, order: asked.order },
        filter: {
          address: c.req.valid('param').address,
          chain: asked.chain?.key,
          include_internal_transactions: asked.include_internal_transactions,
          nft_metadata: asked.nft_metadata,
          include_input_data: asked.include_input_data,
          include: asked.include,
          ...givenBlockBounds(asked),
        },
      });
      const { filter } = page;
      const chain = indexedChain(chains, filter.chain, ...LEG_DATASETS);
      const requester = c.get('principal')?.id ?? 'open';
      const recordsOf = (wanted: readonly WantedTransaction[]) =>
        readRecords({ database: reads, chain, lookUps, requester, withLogs: filter.include === LOGS }, wanted);
      const traced = async (transactions: readonly FoundTransaction[]) =>
        filter.include_internal_transactions
          ? readInternalTransactions({ lookUps, chain, requester }, transactions.map(tracedOf))
          : null;
      const booksFor = (transactions: readonly FoundTransaction[]) => {
        const placed = transactions.map(({ block, record }) => ({
          block: { number: block.block_number },
          transaction: record,
        }));
        return abis.forPage(reads, chain, [...callsOf(placed), ...(filter.include === LOGS ? eventsOf(placed) : [])]);
      };
      const reading = {
        database: reads,
        chain,
        recordsOf,
        callsOf: traced,
        booksFor,
        withMetadata: filter.nft_metadata,
      };
      const wallet = filter.address as Address;
      // Before what may fail: whoever asks again finds more.
      const search = await askedWallets.ask({ database, logger }, chain, wallet, requester);
      const found = await getWalletHistory(reading, queryOf(page));
      if (!found.indexed.complete) await walletHistory.requestWallet({ database, logger }, chain, wallet, requester);
      const next = found.next;
      return c.json(
        {
          page: page.page + 1,
          page_size: page.limit,
          limit: page.limit,
          cursor: next === null ? null : runs.next(page, placeOf(page, found, next)),
          synced_at: found.syncedBlock,
          indexed: {
            ...showIndexed(found.indexed),
            traces: found.traces,
            ...(search !== null && olderMarks(search, chain)),
          },
          result: showRows(chain, found, filter),
        },
        200,
      );
    });
  };
}

const DEFAULT_CHAIN = 'eth';
const PAGE_SIZE_DEFAULT = 100;
const LOGS = 'logs';

/** What a cursor is bound to. Named as the parameters. */
const filterSchema = z.object({
  address: z.string(),
  chain: z.string(),
  include_internal_transactions: z.boolean(),
  nft_metadata: z.boolean(),
  include_input_data: z.boolean(),
  include: z.string(),
  ...blockBoundsSchema,
});
type Filter = z.infer<typeof filterSchema>;

const DEFAULTS: Filter = {
  address: '',
  chain: DEFAULT_CHAIN,
  include_internal_transactions: false,
  nft_metadata: false,
  include_input_data: false,
  include: '',
  ...NO_BLOCK_BOUNDS,
};

/** The last transaction of a page. */
const positionSchema = z.object({ block: z.int(), transaction: z.int() });

type RunPage = Page<Filter, z.infer<typeof positionSchema>>;

function queryOf({ filter, limit, order, position, upperBound }: RunPage): HistoryQuery {
  return {
    ...{ wallet: filter.address as Address, order, limit, pinnedBlock: upperBound },
    ...boundsOfRows(filter),
    after: position === null ? null : { blockNumber: position.block, transactionIndex: position.transaction },
  };
}

function placeOf(page: RunPage, found: HistoryPage, next: NonNullable<HistoryPage['next']>) {
  return {
    position: { block: next.blockNumber, transaction: next.transactionIndex },
    upperBound: page.upperBound ?? found.newestBlock,
  };
}

/** Read for its block's hash: what is told of it holds for good. */
function tracedOf({ block, record: transaction }: FoundTransaction) {
  return { transaction, block: { hash: block.block_hash }, proof: 'none' as const, finalized: true };
}

function showRows(chain: Chain, found: HistoryPage, filter: Filter) {
  const wishes = {
    internalTransactions: filter.include_internal_transactions,
    nftMetadata: filter.nft_metadata,
    inputData: filter.include_input_data,
    logs: filter.include === LOGS,
  };
  return found.rows.map((row) => showHistoryRow(chain, row, found, wishes));
}

function routeOf({ parameters }: ApiDependencies) {
  return createRoute({
    method: 'get',
    path: '/api/v2.2/wallets/{address}/history',
    operationId: 'getWalletHistory',
    tags: ['Wallets'],
    summary: 'What a wallet did: its transactions, each classified',
    description:
      'A row for each transaction that the wallet had a part in, with what moved of it, newest first by default. What is not stored of a transaction is read from a node: 503 where that takes longer than a request waits. Pages follow by `cursor`; each is full but the last, and spam is flagged, not left out.',
    request: {
      params: z.object({ address: parameters.address }),
      query: querySchema({
        chain: parameters.chain,
        from_block: parameters.fromBlock,
        to_block: parameters.toBlock,
        from_date: parameters.fromDate,
        to_date: parameters.toDate,
        include_internal_transactions: booleanParameter({
          default: false,
          description:
            'Adds internal_transactions, as a node traces them, and what they moved of the wallet where that is not indexed.',
        }),
        nft_metadata: booleanParameter({ default: false, description: 'Adds what is known of the NFTs.' }),
        include_input_data: booleanParameter({ default: false, description: 'Adds the input of each transaction.' }),
        include: textParameter(LOGS, (text) => (text === '' || text === LOGS ? text : undefined))
          .optional()
          .openapi({ type: 'string', enum: [LOGS], description: 'Adds all logs of each transaction, decoded.' }),
        limit: parameters.limit,
        order: parameters.order,
        cursor: parameters.cursor,
      }),
    },
    responses: {
      200: { description: 'A page of the history', content: { 'application/json': { schema: walletHistorySchema } } },
      ...errorResponses(400, 401, 429, 500, 503),
    },
  });
}
