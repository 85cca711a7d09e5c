import { type Indexed, showIndexed } from '@chainstead/answers';
import { z } from '@hono/zod-openapi';
import { decodedCallSchema } from './decoded-response.ts';
import { tracedMark, tracesMarkSchema } from './internal-transaction-response.ts';
import { transactionShape, verboseLogSchema } from './transaction-response.ts';

const blockDigits = z.string().openapi({ pattern: '^[0-9]+$', example: '18500000' }).nullable();

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
  })
  .openapi('IndexedTransactions');

/**
 * @param areSendersRecovered whether those of all shown transactions were
 * @param traced what was read of traces: undefined where the request does not include them, null where no node gives them
 */
export function showIndexedTransactions(
  indexed: Indexed,
  areSendersRecovered: boolean,
  traced: unknown,
): z.infer<typeof indexedTransactionsSchema> {
  return {
    ...showIndexed(indexed),
    ...tracedMark(traced).indexed,
    senders: areSendersRecovered ? 'recovered' : 'believed',
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
