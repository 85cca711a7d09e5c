import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import type { ReadDatabase } from '@chainstead/db';
import {
  blockBoundsSchema,
  booleanParameter,
  chainQueryOf,
  defineListRoute,
  givenBlockBounds,
  querySchema,
  type RouteModule,
  textParameter,
} from '@chainstead/http';
import { showIndexed, TRANSACTION_ORDER } from '@chainstead/pages';
import type { OnDemandBackfill } from '@chainstead/pages/on-demand';
import { z } from '@hono/zod-openapi';
import { type AbiBooks, callsOf, eventsOf } from '../../abis/abi-books.ts';
import { readInternalTransactions } from '../../internal-transactions.ts';
import type { OnDemandReads } from '../../on-demand-reads.ts';
import { olderMarks } from '../../wallets/read-wallet-search.ts';
import type { TrackedWallets } from '../../wallets/tracked-wallets.ts';
import {
  getWalletHistory,
  type ReadTransaction,
  type RecordInBlock,
  type WantedTransaction,
} from '../page/get-wallet-history.ts';
import { ASSET_MOVEMENT_DATASETS } from '../page/places-page.ts';
import { readStoredRecords } from '../reading/read-stored-records.ts';
import { walletTransactionsKind } from '../reading/wallet-transactions-reader.ts';
import { showHistoryRow, walletHistorySchema } from '../records/history-response.ts';

export interface HistoryRouteOptions {
  readonly onDemandReads: OnDemandReads;
  readonly abis: AbiBooks;
  readonly trackedWallets: TrackedWallets;
  readonly onDemandBackfill: Pick<OnDemandBackfill, 'requestWallet'>;
}

/** docs/api/wallets.md#wallet-history */
export function createWalletHistoryRoute(options: HistoryRouteOptions): RouteModule {
  const { trackedWallets, onDemandBackfill } = options;
  return (app, dependencies) => {
    const { database, logger, parameters, reads } = dependencies;
    defineListRoute(app, dependencies, {
      path: '/api/v2.2/wallets/{address}/history',
      operationId: 'getWalletHistory',
      tags: ['Wallets'],
      summary: 'List the classified transaction history of a wallet',
      description:
        'One row per transaction that involves the wallet, with its transfers, newest first by default. Transaction data that is not stored is read from a node: returns 503 if the read exceeds `ON_DEMAND_WAIT_MS`. Use `cursor` for the next page; all pages except the last are full, and spam is flagged, not omitted.',
      params: z.object({ address: parameters.address }),
      query: querySchema({
        chain: parameters.chain,
        ...parameters.blockBounds,
        include_internal_transactions: booleanParameter({
          default: false,
          description:
            'Adds internal_transactions traced by a node. If internal transfers are not indexed, also adds those of the wallet.',
        }),
        nft_metadata: booleanParameter({ default: false, description: 'Adds the known metadata of the NFTs.' }),
        include_input_data: booleanParameter({
          default: false,
          description: 'Adds the input data of each transaction.',
        }),
        include: textParameter(LOGS, (text) => (text === '' || text === LOGS ? text : undefined))
          .optional()
          .openapi({ type: 'string', enum: [LOGS], description: 'Adds all decoded logs of each transaction.' }),
        limit: parameters.limit,
        order: parameters.order,
        cursor: parameters.cursor,
      }),
      response: { description: 'A page of wallet history', schema: walletHistorySchema },
      datasets: ASSET_MOVEMENT_DATASETS,
      cursorName: 'wallet-history',
      filter: filterSchema,
      filterOf: ({ address, chain, ...given }) => ({
        ...{ address, chain: chain?.key, include: given.include },
        include_internal_transactions: given.include_internal_transactions,
        nft_metadata: given.nft_metadata,
        include_input_data: given.include_input_data,
        ...givenBlockBounds(given),
      }),
      position: z.object(TRANSACTION_ORDER.fields),
      firstPage: 1,
      read: async (page) => {
        const { chain, filter, requester } = page;
        const wallet = filter.address as Address;
        // Before steps that may fail: a later request then finds more.
        const search = await trackedWallets.ask({ database, logger }, chain, wallet, requester);
        const query = { ...chainQueryOf(page), wallet };
        const history = await getWalletHistory(readingOf(options, reads, page), query);
        if (!history.indexed.complete)
          await onDemandBackfill.requestWallet({ database, logger }, chain, wallet, requester);
        return { history, search, next: history.next };
      },
      present: ({ history, search }, { page, page_size, cursor }, { chain, filter }) => ({
        ...{ page, page_size, limit: page_size, cursor },
        synced_at: history.syncedBlock,
        indexed: {
          ...showIndexed(history.indexed),
          traces: history.traces,
          ...(search !== null && olderMarks(search, chain)),
        },
        result: history.rows.map((row) =>
          showHistoryRow(chain, row, history, {
            internalTransactions: filter.include_internal_transactions,
            nftMetadata: filter.nft_metadata,
            inputData: filter.include_input_data,
            logs: filter.include === LOGS,
          }),
        ),
      }),
    });
  };
}

const LOGS = 'logs';

const filterSchema = z.object({
  address: z.string(),
  chain: z.string().default('eth'),
  include_internal_transactions: z.boolean().default(false),
  nft_metadata: z.boolean().default(false),
  include_input_data: z.boolean().default(false),
  include: z.string().default(''),
  ...blockBoundsSchema,
});

type Filter = z.infer<typeof filterSchema>;

function readingOf(
  { abis, onDemandReads }: HistoryRouteOptions,
  database: ReadDatabase,
  { chain, filter, requester }: { readonly chain: Chain; readonly filter: Filter; readonly requester: string },
) {
  const withLogs = filter.include === LOGS;
  const requested = { onDemandReads, chain, requester };
  return {
    database,
    chain,
    recordsOf: (wanted: readonly WantedTransaction[]) =>
      readRecords({ ...requested, database, withLogs }, wanted),
    callsOf: async (transactions: readonly RecordInBlock[]) => {
      if (!filter.include_internal_transactions) return null;
      // Read for the block's hash, so the result is permanent.
      const traced = transactions.map(({ block, record: transaction }) => {
        return { transaction, block: { hash: block.block_hash }, proof: 'none' as const, finalized: true };
      });
      return readInternalTransactions(requested, traced);
    },
    booksFor: (transactions: readonly RecordInBlock[]) => {
      const placed = transactions.map(({ block, record: transaction }) => {
        return { block: { number: block.block_number }, transaction };
      });
      return abis.forPage(database, chain, [...callsOf(placed), ...(withLogs ? eventsOf(placed) : [])]);
    },
    withMetadata: filter.nft_metadata,
  };
}

interface RecordsReading {
  readonly database: ReadDatabase;
  readonly chain: Chain;
  readonly onDemandReads: OnDemandReads;
  readonly requester: string;
  readonly withLogs: boolean;
}

/** Stored rows, others from a node in one batch. @throws as {@link OnDemandReads.read} */
async function readRecords(
  reading: RecordsReading,
  wanted: readonly WantedTransaction[],
): Promise<readonly ReadTransaction[]> {
  const known = new Map<string, ReadTransaction>(await readStoredRecords(reading, wanted));
  const missing = wanted.filter(({ hash }) => !known.has(hash));
  if (missing.length > 0) {
    const { onDemandReads, chain, requester } = reading;
    const items = missing.map(({ hash, transaction: index, blockHash }) => ({ hash, index, blockHash }));
    const kind = walletTransactionsKind;
    // The question contains block hashes, so its result is permanent.
    const answer = await onDemandReads.read({
      chain,
      kind,
      requester,
      question: { items },
      isLasting: () => true,
    });
    for (const record of answer.transactions) known.set(record.hash, { record, said: null });
  }
  return wanted.flatMap(({ hash }) => known.get(hash) ?? []);
}
