import { type Indexed, showIndexed } from '@chainstead/answers';
import { z } from '@hono/zod-openapi';
import { decodedCallSchema } from './decoded-response.ts';
import { tracedMark, tracesMarkSchema } from './internal-transaction-response.ts';
import { transactionShape, verboseLogSchema } from './transaction-response.ts';

const blockDigits = z.string().openapi({ pattern: '^[0-9]+$', example: '18500000' }).nullable();

/** Where a search of a wallet's older blocks stands. `no-archive`: no upstream has the old state. */
const SEARCH_STATES = ['waiting', 'reading', 'done', 'refused', 'no-archive', 'failed'] as const;
export type SearchState = (typeof SEARCH_STATES)[number];

/** What is known of the transactions that a wallet sent. */
export interface SentMark {
  /** Whether it is all of them, up to the newest indexed block. */
  readonly complete: boolean;
  /** Null where nothing was to be searched. */
  readonly state: SearchState | null;
}

/** What is known of the coins that a wallet received in older blocks: without a node's index not all of it, whatever was searched. */
export interface ReceivedMark {
  /** Whether the balances of all blocks were searched of which the sent transactions are known, but for the newest, which may yet be reorganised. */
  readonly searched: boolean;
  /** Whether a node's index of accounts named all of its transactions in those blocks, and they are what its count and its balances changed by. */
  readonly exact: boolean;
  /** Null where nobody has asked for it. */
  readonly state: SearchState | null;
}

/** What is known of a wallet's older transactions. */
export interface OlderMarks {
  readonly sent: SentMark;
  readonly received: ReceivedMark;
}

/** {@link OlderMarks} as the API shows them: present where only transactions of wallets that are asked for are kept. */
export const olderMarksShape = {
  sent: z
    .object({
      complete: z.boolean().openapi({ description: 'Whether every transaction is known that the wallet sent' }),
      state: z.enum(SEARCH_STATES).nullable().openapi({
        description:
          'Of the search for what it sent in older blocks: waiting for its turn or for blocks to be final, reading, done, failed (tried again), refused (it takes too many node calls), no-archive (no node has old state); null where nothing was to be searched',
      }),
    })
    .optional()
    .openapi({ description: 'Present where only transactions of wallets that are asked for are kept' }),
  received: z
    .object({
      searched: z.boolean().openapi({
        description:
          'Whether its balances were searched for coins that it received, up to the newest blocks, which may yet be reorganised. What came and went between two of them is not found',
      }),
      exact: z.boolean().openapi({
        description:
          'Whether an index of accounts that a node has named its transactions in those blocks, and they are all that its count of transactions and its balances changed by',
      }),
      state: z.enum(SEARCH_STATES).nullable().openapi({
        description: 'Of that search, which begins when all is known that the wallet sent; as of `sent`',
      }),
    })
    .optional()
    .openapi({ description: 'Present where `sent` is' }),
};

/** Which blocks a list of transactions tells of, and how. */
const indexedTransactionsSchema = z
  .object({
    from_block: blockDigits,
    to_block: blockDigits,
    complete: z.boolean().openapi({ description: 'Whether every block that was asked for is indexed' }),
    traces: tracesMarkSchema.optional(),
    senders: z
      .enum(['recovered', 'believed'])
      .openapi({ description: 'Whether every sender of the page follows from its signature' }),
    ...olderMarksShape,
  })
  .openapi('IndexedTransactions');

/**
 * @param areSendersRecovered whether those of all shown transactions were
 * @param more `traced`: what was read of traces, undefined where the request does not include them, null where no node gives them; `older`: null where
 * the transactions of all wallets are kept
 */
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
  page: z.number().openapi({ example: 1, description: 'From 1' }),
  page_size: z.number().openapi({ example: 100 }),
  cursor: z.string().nullable().openapi({ description: 'Of the next page; null on the last one' }),
  indexed: indexedTransactionsSchema,
};

/** A page of a wallet's transactions (docs/provider-contract.md#transactions-of-a-wallet). */
export const walletTransactionsSchema = z
  .object({ ...envelope, result: z.array(z.object(transactionShape).openapi('WalletTransaction')) })
  .openapi('WalletTransactions');

const verboseSchema = z
  .object({
    ...transactionShape,
    logs: z.array(verboseLogSchema),
    decoded_call: decodedCallSchema.nullable().openapi({ description: 'Null where nobody knows the call' }),
  })
  .openapi('WalletTransactionVerbose');

/** The same with what calls and logs mean. */
export const verboseWalletTransactionsSchema = z
  .object({ ...envelope, result: z.array(verboseSchema) })
  .openapi('WalletTransactionsVerbose');
