import type { Chain } from '@chainstead/chains';
import { ZERO_ADDRESS } from '@chainstead/core';
import type { DecodedEvent } from '@chainstead/events/decoding';
import { each, indexedSchema, inside, showIndexed, view, wire } from '@chainstead/http';
import { z } from '@hono/zod-openapi';
import { decodedEventView } from '../../records/decoded-response.ts';
import {
  internalTransactionView,
  showInternalTransactions,
  tracesMark,
} from '../../records/internal-transaction-response.ts';
import {
  eventOf,
  logFields,
  logsOf,
  type ShownLog,
  shownTransaction,
  transactionFields,
} from '../../records/transaction-response.ts';
import { type OlderMarks, olderFields } from '../../records/wallet-transactions-response.ts';
import { CATEGORIES, CATEGORY_DETAILS, isPossibleSpam } from '../classification/classification-features.ts';
import type { ClassifiedTransaction, HistoryPage } from '../page/get-wallet-history.ts';
import { summarise } from '../summary/summarise.ts';
import { erc20LegView, nativeLegView, nftLegView } from './asset-movement-response.ts';
import { contractInteractionsView } from './contract-interactions.ts';

const { flag, text } = wire;

const UNDECODED = { signature: null, label: null, type: 'event', params: [] };

const undecodedSchema = z
  .object({
    signature: z.null(),
    label: z.null(),
    type: z.literal('event'),
    params: z.array(z.unknown()).max(0),
  })
  .openapi('UndecodedEvent');

const historyLogView = view('HistoryLog', (log: ShownLog) => log, {
  ...logFields,
  decoded_event: wire.wire(z.union([decodedEventView.schema, undecodedSchema]), (event: DecodedEvent | null) =>
    event === null ? UNDECODED : decodedEventView.show(event),
  )('An object with null values if the event is unknown, because clients access its members', eventOf),
});

interface HistoryWishes {
  readonly include_internal_transactions: boolean;
  readonly nft_metadata: boolean;
  readonly include_input_data: boolean;
  readonly withLogs: boolean;
}

function shownRow(
  chain: Chain,
  row: ClassifiedTransaction,
  { related, booksOf }: Pick<HistoryPage, 'related' | 'booksOf'>,
  wishes: HistoryWishes,
) {
  const { block, record: transaction, calls, seen, classification } = row;
  const place = {
    number: block.block_number,
    hash: block.block_hash,
    timestamp: Date.parse(block.block_timestamp) / 1_000,
  };
  const labelOf = (address: typeof transaction.to) => related.labelOf(address ?? ZERO_ADDRESS);
  const internal = wishes.include_internal_transactions ? calls : undefined;
  const context = {
    ...{ wallet: seen.wallet, related, coin: chain.native, value: transaction.value },
    timestamp: block.block_timestamp,
    transactionIndex: transaction.index,
    withMetadata: wishes.nft_metadata,
  };
  return {
    ...shownTransaction({ transaction, block: place, internal }, { labelOf, booksOf }, seen.method),
    ...{ seen, classification, related, context, wishes },
  };
}

const { input, ...ofTransaction } = transactionFields;

/** docs/api/wallets.md#wallet-history */
export const historyRowView = view('WalletHistoryRow', shownRow, {
  ...ofTransaction,
  internal_transactions: wire.wire(z.array(internalTransactionView.schema).nullable().optional())(
    'Only with include_internal_transactions. null if no node returns traces',
    (row) => showInternalTransactions(row, row.internal),
  ),
  input: wire
    .wire(input.schema)
    .orAbsent('Only with include_input_data', (row) => (row.wishes.include_input_data ? row.input : null)),
  category: wire.wire(z.enum(CATEGORIES))(({ classification }) => classification.category),
  category_detail: wire
    .wire(z.enum(CATEGORY_DETAILS))
    .orAbsent('Only if a more specific category is known', ({ classification }) => classification.detail),
  category_inferred: wire
    .wire(z.literal(true))
    .orAbsent(
      'true if the category depends on data that only traces contain',
      ({ classification }) => classification.isInferred || null,
    ),
  summary: text(
    { example: 'Sent 5 USDC to 0x1234...abcd', description: 'Human-readable summary' },
    ({ seen, classification, related, context }) =>
      summarise(seen, classification.category, seen.approvals, {
        coin: context.coin,
        tokenOf: related.tokenOf,
        collectionOf: (token) => related.collectionOf(token).name,
        labelOf: (address) => related.labelOf(address).label,
      }),
  ),
  possible_spam: flag(({ seen, related: { tokenOf, collectionOf } }) =>
    isPossibleSpam(seen, (token) => tokenOf(token).possibleSpam || collectionOf(token).possibleSpam),
  ),
  contract_interactions: inside(contractInteractionsView).orNull(
    'null if there are none',
    ({ seen: { approvals }, related }) => (approvals.length === 0 ? null : { approvals, related }),
  ),
  nft_transfers: each(nftLegView)(
    'Transfers of the wallet by log index, as for the other two lists',
    ({ seen, context }) => seen.nfts.map((leg) => ({ ...leg, context })),
  ),
  erc20_transfers: each(erc20LegView)(({ seen, context }) => seen.tokens.map((leg) => ({ ...leg, context }))),
  native_transfers: each(nativeLegView)(({ seen, context }) => seen.coins.map((leg) => ({ ...leg, context }))),
  logs: each(historyLogView).orAbsent('All logs of the transaction. Only with include=logs', (row) =>
    row.wishes.withLogs ? logsOf(row) : null,
  ),
});

const marks = view(null, (traces: HistoryPage['traces'], older: OlderMarks | null) => ({ traces, older }), {
  traces: wire.wire(tracesMark)(),
  ...olderFields,
});

export const indexedHistoryView = {
  schema: indexedSchema.extend(marks.schema.shape).openapi('IndexedHistory'),
  show: ({ indexed, traces }: Pick<HistoryPage, 'indexed' | 'traces'>, older: OlderMarks | null) => ({
    ...showIndexed(indexed),
    ...marks.show(traces, older),
  }),
};
