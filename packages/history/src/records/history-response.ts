import { indexedSchema } from '@chainstead/answers';
import {
  internalTransactionSchema,
  olderMarksShape,
  tracesMarkSchema,
  transactionShape,
  verboseLogSchema,
} from '@chainstead/transactions';
import { z } from '@hono/zod-openapi';
import { CATEGORIES, CATEGORY_DETAILS } from '../classification/wallet-transaction.ts';
import { contractInteractionsSchema } from './contract-interactions.ts';
import { erc20LegSchema, nativeLegSchema, nftLegSchema } from './leg-response.ts';

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
    decoded_event: z
      .union([verboseLogSchema.shape.decoded_event.unwrap(), undecodedSchema])
      .openapi({ description: 'An object of nulls where nobody knows the event: clients read into it' }),
  })
  .openapi('HistoryLog');

/** One of a wallet's transactions (docs/provider-contract.md#wallet-history). */
export const historyRowSchema = z
  .object({
    ...shape,
    input: input.optional().openapi({ description: 'With include_input_data' }),
    category: z.enum(CATEGORIES),
    category_detail: z.enum(CATEGORY_DETAILS).optional().openapi({ description: 'Where something finer is known' }),
    category_inferred: z.literal(true).optional().openapi({
      description: 'The category rests on what only traces would show',
    }),
    summary: z.string().openapi({ example: 'Sent 5 USDC to 0x1234...abcd', description: 'For people' }),
    possible_spam: z.boolean(),
    contract_interactions: contractInteractionsSchema.nullable().openapi({ description: 'Null where there are none' }),
    nft_transfers: z.array(nftLegSchema).openapi({ description: 'Of the wallet, by log index, as the other two' }),
    erc20_transfers: z.array(erc20LegSchema),
    native_transfers: z.array(nativeLegSchema),
    internal_transactions: z.array(internalTransactionSchema).nullable().optional().openapi({
      description: 'With include_internal_transactions; null where no node gives traces',
    }),
    logs: z.array(historyLogSchema).optional().openapi({ description: 'All of the transaction, with include=logs' }),
  })
  .openapi('WalletHistoryRow');

/** The answer of `getWalletHistory`. */
export const walletHistorySchema = z
  .object({
    page: z.int().min(1).openapi({ description: 'From 1' }),
    page_size: z.int().min(1),
    limit: z.int().min(1).openapi({ description: 'The same as page_size' }),
    cursor: z.string().nullable().openapi({ description: 'For the next page; null on the last' }),
    synced_at: z.int().nullable().openapi({ description: 'The newest indexed block; null where there is none' }),
    indexed: indexedSchema
      .extend({
        traces: tracesMarkSchema,
        ...olderMarksShape,
      })
      .openapi('IndexedHistory'),
    result: z.array(historyRowSchema),
  })
  .openapi('WalletHistory');
