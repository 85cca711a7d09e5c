import { type Indexed, showIndexed } from '@chainstead/pages';
import { z } from '@hono/zod-openapi';
import { decodedCallSchema } from './decoded-response.ts';
import { tracedMark, tracesMarkSchema } from './internal-transaction-response.ts';
import { transactionShape, verboseLogSchema } from './transaction-response.ts';

const blockDigits = z.string().openapi({ pattern: '^[0-9]+$', example: '18500000' }).nullable();

/** `no-archive`: no upstream has old state. */
const SEARCH_STATES = ['waiting', 'reading', 'done', 'refused', 'no-archive', 'failed'] as const;
export type SearchState = (typeof SEARCH_STATES)[number];

export interface OlderMarks {
  readonly sent: { readonly complete: boolean; readonly state: SearchState | null };
  readonly received: { readonly searched: boolean; readonly exact: boolean; readonly state: SearchState | null };
}

export const olderMarksShape = {
  sent: z
    .object({
      complete: z.boolean().openapi({ description: 'true if all transactions sent by the wallet are known' }),
      state: z.enum(SEARCH_STATES).nullable().openapi({
        description:
          'Status of the search for sent transactions in older blocks. Values: waiting (for its turn or for final blocks), reading, done, failed (retried), refused (too many node calls), no-archive (no node has old state). null if no search is required',
      }),
    })
    .optional()
    .openapi({ description: 'Only if only the transactions of requested wallets are indexed' }),
  received: z
    .object({
      searched: z.boolean().openapi({
        description:
          'true if the balances of the wallet were searched for received native tokens, except in the newest blocks, which may still be reorged. Amounts received and spent between two searched blocks are not found',
      }),
      exact: z.boolean().openapi({
        description:
          'true if the account index of a node returned the transactions in these blocks, and they explain all changes of its nonce and balance',
      }),
      state: z.enum(SEARCH_STATES).nullable().openapi({
        description:
          'Status of this search. It starts when all sent transactions are known. Same values as for `sent`',
      }),
    })
    .optional()
    .openapi({ description: 'Only if `sent` is present' }),
};

const indexedTransactionsSchema = z
  .object({
    from_block: blockDigits,
    to_block: blockDigits,
    complete: z.boolean().openapi({ description: 'true if every requested block is indexed' }),
    traces: tracesMarkSchema.optional(),
    senders: z
      .enum(['recovered', 'believed'])
      .openapi({ description: 'true if every sender on the page was recovered from its signature' }),
    ...olderMarksShape,
  })
  .openapi('IndexedTransactions');

/** `traced` undefined: not requested, null: no traces. `older` null: all wallets are stored. */
export function showIndexedTransactions(
  indexed: Indexed,
  areSendersRecovered: boolean,
  { traced, older }: { readonly traced: unknown; readonly older: OlderMarks | null },
): z.infer<typeof indexedTransactionsSchema> {
  return {
    ...showIndexed(indexed),
    ...tracedMark(traced).indexed,
    senders: areSendersRecovered ? 'recovered' : 'believed',
    ...older,
  };
}

const envelope = {
  page: z.number().openapi({ example: 1, description: 'Page number, from 1' }),
  page_size: z.number().openapi({ example: 100 }),
  cursor: z.string().nullable().openapi({ description: 'Cursor of the next page. null on the last page' }),
  indexed: indexedTransactionsSchema,
};

/** docs/api/transactions.md#transactions-of-a-wallet */
export const walletTransactionsSchema = z
  .object({ ...envelope, result: z.array(z.object(transactionShape).openapi('WalletTransaction')) })
  .openapi('WalletTransactions');

const verboseSchema = z
  .object({
    ...transactionShape,
    logs: z.array(verboseLogSchema),
    decoded_call: decodedCallSchema.nullable().openapi({ description: 'null if the call is unknown' }),
  })
  .openapi('WalletTransactionVerbose');

export const verboseWalletTransactionsSchema = z
  .object({ ...envelope, result: z.array(verboseSchema) })
  .openapi('WalletTransactionsVerbose');
