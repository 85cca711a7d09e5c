import type { Chain } from '@chainstead/chains';
import type { ReadDatabase } from '@chainstead/db';
import { type ApiDependencies, booleanParameter, textParameter, wire } from '@chainstead/http';
import { TRANSACTION_ORDER } from '@chainstead/pages';
import { z } from '@hono/zod-openapi';
import { callsOf, eventsOf } from '../../abis/abi-books.ts';
import { readInternalTransactions } from '../../internal-transactions.ts';
import type { OnDemandReads } from '../../on-demand-reads.ts';
import { olderMarks } from '../../wallets/read-wallet-search.ts';
import {
  getWalletHistory,
  type ReadTransaction,
  type RecordInBlock,
  type WantedTransaction,
} from '../page/get-wallet-history.ts';
import { ASSET_MOVEMENT_DATASETS } from '../page/places-page.ts';
import { readStoredRecords } from '../reading/read-stored-records.ts';
import { walletTransactionsKind } from '../reading/wallet-transactions-reader.ts';
import { historyRowView, indexedHistoryView } from '../records/history-response.ts';
import { defineListRoute, type HistoryServices } from '../routes.ts';

const LOGS = 'logs';
const { integer } = wire;

/** docs/api/wallets.md#wallet-history */
export const walletHistoryRoute = defineListRoute({
  path: '/api/v2.2/wallets/{address}/history',
  operationId: 'getWalletHistory',
  tag: 'Wallets',
  summary: 'List the classified transaction history of a wallet',
  description:
    'One row per transaction that involves the wallet, with its transfers, newest first by default. Transaction data that is not stored is read from a node: returns 503 if the read exceeds `ON_DEMAND_WAIT_MS`. Use `cursor` for the next page; all pages except the last are full, and spam is flagged, not omitted.',
  params: ['address'],
  query: [
    'chain',
    'blockBounds',
    {
      include_internal_transactions: booleanParameter({
        default: false,
        description:
          'Adds internal_transactions traced by a node. If internal transfers are not indexed, also adds those of the wallet.',
      }).default(false),
      nft_metadata: booleanParameter({
        default: false,
        description: 'Adds the known metadata of the NFTs.',
      }).default(false),
      include_input_data: booleanParameter({
        default: false,
        description: 'Adds the input data of each transaction.',
      }).default(false),
      include: textParameter(LOGS, (text) => (text === '' || text === LOGS ? text : undefined))
        .default('')
        .openapi({ type: 'string', enum: [LOGS], description: 'Adds all decoded logs of each transaction.' }),
    },
    'limit',
    'order',
  ],
  name: 'WalletHistory',
  response: 'A page of wallet history',
  datasets: ASSET_MOVEMENT_DATASETS,
  position: TRANSACTION_ORDER.position,
  firstPage: 1,
  async read({ services, chain, address: wallet, query, requester, ...request }) {
    // Before steps that may fail: a later request then finds more.
    const search = await services.trackedWallets.ask(request, chain, wallet, requester);
    const wishes = { ...request, withLogs: request.include === LOGS };
    const history = await getWalletHistory(readingOf({ ...wishes, services, chain, requester }), {
      ...query,
      wallet,
    });
    if (!history.indexed.complete)
      await services.onDemandBackfill.requestWallet(request, chain, wallet, requester);
    return { ...history, wishes, older: search === null ? null : olderMarks(search, chain) };
  },
  view: historyRowView,
  row: (row, history, { chain }) => [chain, row, history, history.wishes],
  fields: ({ page, page_size, cursor, result }) => ({
    ...{ page, page_size },
    limit: wire.wire(z.int().min(1))('Same as page_size', 'pageSize'),
    cursor,
    synced_at: integer.orNull(
      'The newest indexed block. null if there is none',
      ({ found: { syncedBlock } }) => syncedBlock,
    ),
    indexed: {
      schema: indexedHistoryView.schema,
      value: ({ found }) => indexedHistoryView.show(found, found.older),
    },
    result,
  }),
});

interface HistoryRequest extends Pick<ApiDependencies, 'reads'> {
  readonly services: HistoryServices;
  readonly chain: Chain;
  readonly requester: string;
  readonly include_internal_transactions: boolean;
  readonly nft_metadata: boolean;
  readonly withLogs: boolean;
}

function readingOf({ services, reads: database, chain, requester, withLogs, ...wishes }: HistoryRequest) {
  const requested = { ...services, chain, requester };
  return {
    database,
    chain,
    recordsOf: (wanted: readonly WantedTransaction[]) =>
      readRecords({ ...requested, database, withLogs }, wanted),
    callsOf: async (transactions: readonly RecordInBlock[]) => {
      if (!wishes.include_internal_transactions) return null;
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
      return services.abis.forPage(database, chain, [...callsOf(placed), ...(withLogs ? eventsOf(placed) : [])]);
    },
    withMetadata: wishes.nft_metadata,
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
