import type { Chain } from '@chainstead/chains';
import { type Address, ZERO_ADDRESS } from '@chainstead/core';
import { indexedSchema } from '@chainstead/pages';
import { z } from '@hono/zod-openapi';
import { showDecodedEvent } from '../../records/decoded-response.ts';
import { internalTransactionSchema, tracesMarkSchema } from '../../records/internal-transaction-response.ts';
import { showTransaction, transactionShape, verboseLogSchema } from '../../records/transaction-response.ts';
import { olderMarksShape } from '../../records/wallet-transactions-response.ts';
import { CATEGORIES, CATEGORY_DETAILS, isPossibleSpam } from '../classification/classification-features.ts';
import type { ClassifiedTransaction, HistoryPage } from '../page/get-wallet-history.ts';
import { summarise } from '../summary/summarise.ts';
import {
  erc20LegSchema,
  nativeLegSchema,
  nftLegSchema,
  showErc20Leg,
  showNativeLeg,
  showNftLeg,
} from './asset-movement-response.ts';
import { contractInteractionsSchema, showContractInteractions } from './contract-interactions.ts';

const { input, internal_transactions: _, ...shape } = transactionShape;

const undecodedSchema = z
  .object({
    signature: z.null(),
    label: z.null(),
    type: z.literal('event'),
    params: z.array(z.unknown()).max(0),
  })
  .openapi('UndecodedEvent');

const historyLogSchema = verboseLogSchema
  .omit({ decoded_event: true })
  .extend({
    decoded_event: z.union([verboseLogSchema.shape.decoded_event.unwrap(), undecodedSchema]).openapi({
      description: 'An object with null values if the event is unknown, because clients access its members',
    }),
  })
  .openapi('HistoryLog');

/** docs/api/wallets.md#wallet-history */
const historyRowSchema = z
  .object({
    ...shape,
    input: input.optional().openapi({ description: 'Only with include_input_data' }),
    category: z.enum(CATEGORIES),
    category_detail: z
      .enum(CATEGORY_DETAILS)
      .optional()
      .openapi({ description: 'Only if a more specific category is known' }),
    category_inferred: z.literal(true).optional().openapi({
      description: 'true if the category depends on data that only traces contain',
    }),
    summary: z
      .string()
      .openapi({ example: 'Sent 5 USDC to 0x1234...abcd', description: 'Human-readable summary' }),
    possible_spam: z.boolean(),
    contract_interactions: contractInteractionsSchema
      .nullable()
      .openapi({ description: 'null if there are none' }),
    nft_transfers: z
      .array(nftLegSchema)
      .openapi({ description: 'Transfers of the wallet by log index, as for the other two lists' }),
    erc20_transfers: z.array(erc20LegSchema),
    native_transfers: z.array(nativeLegSchema),
    internal_transactions: z.array(internalTransactionSchema).nullable().optional().openapi({
      description: 'Only with include_internal_transactions. null if no node returns traces',
    }),
    logs: z
      .array(historyLogSchema)
      .optional()
      .openapi({ description: 'All logs of the transaction. Only with include=logs' }),
  })
  .openapi('WalletHistoryRow');

export const walletHistorySchema = z
  .object({
    page: z.int().min(1).openapi({ description: 'Page number, from 1' }),
    page_size: z.int().min(1),
    limit: z.int().min(1).openapi({ description: 'Same as page_size' }),
    cursor: z.string().nullable().openapi({ description: 'Cursor of the next page. null on the last page' }),
    synced_at: z.int().nullable().openapi({ description: 'The newest indexed block. null if there is none' }),
    indexed: indexedSchema.extend({ traces: tracesMarkSchema, ...olderMarksShape }).openapi('IndexedHistory'),
    result: z.array(historyRowSchema),
  })
  .openapi('WalletHistory');

interface HistoryWishes {
  readonly internalTransactions: boolean;
  readonly nftMetadata: boolean;
  readonly inputData: boolean;
  readonly logs: boolean;
}

export function showHistoryRow(
  chain: Chain,
  { block, record, calls, seen, classification }: ClassifiedTransaction,
  { related, booksOf }: Pick<HistoryPage, 'related' | 'booksOf'>,
  wishes: HistoryWishes,
): z.infer<typeof historyRowSchema> {
  const place = {
    number: block.block_number,
    hash: block.block_hash,
    timestamp: Date.parse(block.block_timestamp) / 1_000,
  };
  const labelOf = (address: string | null) => related.labelOf((address ?? ZERO_ADDRESS) as Address);
  const shownCalls = wishes.internalTransactions ? calls : undefined;
  const { input, logs, ...shown } = showTransaction(record, place, labelOf, seen.method, shownCalls);
  const { category, detail, isInferred } = classification;
  const coin = chain.native;
  const { tokenOf, collectionOf } = related;
  const context = {
    ...{ wallet: seen.wallet, related, coin },
    timestamp: shown.block_timestamp,
    transactionIndex: record.index,
    value: record.value,
  };
  return {
    ...shown,
    ...(wishes.inputData && { input }),
    category,
    ...(detail !== null && { category_detail: detail }),
    ...(isInferred && { category_inferred: true as const }),
    summary: summarise(seen, category, seen.approvals, {
      coin,
      tokenOf,
      collectionOf: (token) => collectionOf(token).name,
      labelOf: (address) => related.labelOf(address).label,
    }),
    possible_spam: isPossibleSpam(
      seen,
      (token) => tokenOf(token).possibleSpam || collectionOf(token).possibleSpam,
    ),
    contract_interactions: showContractInteractions(seen.approvals, related),
    nft_transfers: seen.nfts.map((leg) => showNftLeg(leg, context, wishes.nftMetadata)),
    erc20_transfers: seen.tokens.map((leg) => showErc20Leg(leg, context)),
    native_transfers: seen.coins.map((leg) => showNativeLeg(leg, context)),
    ...(wishes.logs && {
      logs: logs.map((log) => ({ ...log, decoded_event: showDecodedEvent(log, booksOf) ?? UNDECODED })),
    }),
  };
}

const UNDECODED = { signature: null, label: null, type: 'event' as const, params: [] };
