import { isFeeKnownWithoutHeader } from '@chainstead/chains/fees';
import { type BlockHeader, type Hash, isQuantity, parseQuantity } from '@chainstead/core';
import type { StateKind, StateReader, StateReadingContext } from '@chainstead/node-reads';
import { StateUnavailableError } from '@chainstead/node-reads/requests';
import { checkSender, checkTransactionHash } from '@chainstead/proof';
import { parseHeader, parseReceipt } from '@chainstead/rpc';
import { standardTransaction } from '@chainstead/rpc/standard-form';
import { executedTransaction } from '@chainstead/sync';
import type { ExecutedTransaction } from '@chainstead/sync/datasets';
import { z } from 'zod';
import { transactionRecord, transactionRecordSchema } from '../../records/transaction-record.ts';

const hash = z.custom<Hash>((value) => typeof value === 'string' && /^0x[0-9a-f]{64}$/.test(value));

const requestedSchema = z.object({ hash, index: z.int().min(0), blockHash: hash });
const questionSchema = z.object({ items: z.array(requestedSchema).min(1) });
const answerSchema = z.object({
  /** Milliseconds since the epoch. */
  readAt: z.number(),
  transactions: z.array(transactionRecordSchema),
});

type RequestedTransaction = z.infer<typeof requestedSchema>;
type Question = z.infer<typeof questionSchema>;
export type WalletTransactionsAnswer = z.infer<typeof answerSchema>;

/** Two light calls per transaction, instead of whole blocks; and a header if the fee depends on its fork. */
export const walletTransactionsKind: StateKind<Question, WalletTransactionsAnswer> = {
  name: 'wallet-transactions',
  question: questionSchema,
  answer: answerSchema,
};

export const walletTransactionsReader: StateReader<Question, WalletTransactionsAnswer> = {
  kind: walletTransactionsKind,
  async read({ chain, pool, clock }, { items }, signal) {
    const params = items.map((item) => [item.hash]);
    const readAt = clock.now();
    const [transactions, receipts] = await Promise.all([
      pool.requestMany('eth_getTransactionByHash', params, { signal }),
      pool.requestMany('eth_getTransactionReceipt', params, { signal }),
    ]);
    const read = items.map((item, index) => {
      const [transaction, receipt] = [transactions[index], receipts[index]];
      const reason = wrongIn(item, transaction?.value, receipt?.value);
      if (reason === null)
        return executedTransaction(
          standardTransaction(Object(transaction?.value)),
          parseReceipt(receipt?.value),
          item.index,
        );
      if (transaction !== undefined && reason !== 'not there')
        pool.reportFault(transaction.upstream, 'malformed', { reason, transaction: item.hash });
      throw new StateUnavailableError(`No node of ${chain.name} returned transaction ${item.hash} as indexed`);
    });
    const headers = await readHeaders({ chain, pool }, items, read, signal);
    const records = read.map((one, index) => {
      const header = headers.get(items[index]?.blockHash ?? '');
      return transactionRecord(one, header ?? { raw: {} }, chain);
    });
    return { readAt, transactions: records };
  },
};

/** Blocks with a fee that depends on the header. @throws StateUnavailableError */
async function readHeaders(
  { chain, pool }: Pick<StateReadingContext, 'chain' | 'pool'>,
  items: readonly RequestedTransaction[],
  executed: readonly ExecutedTransaction[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, BlockHeader>> {
  const depending = executed.flatMap(({ raw, receipt }, index) =>
    isFeeKnownWithoutHeader({ transaction: raw, receipt: receipt.raw }, chain) ? [] : (items[index] ?? []),
  );
  const hashes = [...new Set(depending.map(({ blockHash }) => blockHash))];
  const params = hashes.map((blockHash) => [blockHash, false]);
  const blocks = hashes.length === 0 ? [] : await pool.requestMany('eth_getBlockByHash', params, { signal });
  const headers = blocks.flatMap(({ value }) => (value === null ? [] : parseHeader(value)));
  const missing = hashes.find((blockHash) => headers.every(({ hash: read }) => read !== blockHash));
  if (missing !== undefined)
    throw new StateUnavailableError(`No node of ${chain.name} returned block ${missing} as indexed`);
  return new Map(headers.map((header) => [header.hash, header]));
}

/** Null: accepted. The hash commits to the transaction, the index to its block. */
function wrongIn(
  { hash: requested, index, blockHash }: RequestedTransaction,
  transaction: unknown,
  receipt: unknown,
): string | null {
  const given = standardTransaction(Object(transaction));
  const result: Readonly<Record<string, unknown>> = Object(receipt);
  if (given.hash === undefined || result.transactionHash === undefined) return 'not there';
  const facts = [given.hash, result.transactionHash, given.blockHash, result.blockHash].map((text) =>
    String(text).toLowerCase(),
  );
  if (facts.join() !== [requested, requested, blockHash, blockHash].join()) return 'another transaction';
  const places = [given.transactionIndex, result.transactionIndex];
  if (!places.every((place) => isQuantity(place) && parseQuantity(place) === index)) return 'another place';
  const check = checkTransactionHash(given).result;
  if (check === 'mismatch' || check === 'malformed') return 'transaction-hash-mismatch';
  if (check === 'verified' && checkSender(given).result === 'mismatch') return 'sender-mismatch';
  return null;
}
