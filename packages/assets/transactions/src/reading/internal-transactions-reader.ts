import { type Hash, parseAddress, parseHash } from '@chainstead/core';
import type { StateKind, StateReader, StateReadingContext } from '@chainstead/node-reads';
import { StateUnavailableError } from '@chainstead/node-reads/requests';
import { readProvenBlock, readTraces, readTransactionTraces } from '@chainstead/sync';
import type { InternalTransaction } from '@chainstead/sync/datasets';
import { z } from 'zod';
import {
  internalTransactionRecordSchema,
  internalTransactionRecords,
} from '../records/internal-transaction-record.ts';

const address = z.string().transform(parseAddress);
const hash = z.string().transform(parseHash);
const TRANSACTIONS_MAX = 100;

const tracedSchema = z.object({
  hash,
  blockHash: hash,
  type: z.int(),
  from: address,
  to: address.nullable(),
  /** Wei, decimal digits. */
  value: z.string().regex(/^\d+$/),
  succeeded: z.boolean().nullable(),
  contractAddress: address.nullable(),
  isProven: z.boolean(),
});

const questionSchema = z.union([
  z.object({ block: z.object({ number: z.int().min(0), hash }) }),
  z.object({ transactions: z.array(tracedSchema).min(1).max(TRANSACTIONS_MAX) }),
]);

const answerSchema = z.object({
  /** Milliseconds since the epoch. */
  readAt: z.number(),
  /** Null: no node provides traces. */
  traced: z.array(z.object({ hash: z.string(), calls: z.array(internalTransactionRecordSchema) })).nullable(),
});

type Question = z.infer<typeof questionSchema>;
type Answer = z.infer<typeof answerSchema>;
type Traced = NonNullable<Answer['traced']>;

export const internalTransactionsKind: StateKind<Question, Answer> = {
  name: 'internal-transactions',
  question: questionSchema,
  answer: answerSchema,
};

const AT_ONCE = 8;

export const internalTransactionsReader: StateReader<Question, Answer> = {
  kind: internalTransactionsKind,
  async read(context, question, signal) {
    const readAt = context.clock.now();
    const traced =
      'block' in question
        ? await traceBlock(context, question.block, signal)
        : await traceSome(context, question.transactions, signal);
    return { readAt, traced };
  },
};

async function traceBlock(
  { chain, pool }: StateReadingContext,
  { number, hash: blockHash }: { readonly number: number; readonly hash: Hash },
  signal: AbortSignal,
): Promise<Traced | null> {
  const reader = { chain, pool, policy: chain.proofPolicy };
  const block = await readProvenBlock(reader, number, { signal, transactions: 'proven' });
  if (block?.header.hash !== blockHash)
    throw new StateUnavailableError(`Block ${blockHash} is leaving ${chain.name}`);
  const read = await readTraces({ chain, pool }, block, signal);
  if ('refusals' in read) return null;
  const byHash = new Map<Hash, InternalTransaction[]>(block.block.transactionHashes.map((one) => [one, []]));
  for (const call of read.calls) byHash.get(call.transactionHash)?.push(call);
  return [...byHash].map(([one, calls]) => ({ hash: one, calls: internalTransactionRecords(calls) }));
}

async function traceSome(
  { chain, pool }: StateReadingContext,
  transactions: readonly z.infer<typeof tracedSchema>[],
  signal: AbortSignal,
): Promise<Traced | null> {
  const traced: Traced = [];
  for (let from = 0; from < transactions.length; from += AT_ONCE) {
    const reads = await Promise.all(
      transactions.slice(from, from + AT_ONCE).map(async ({ value, ...transaction }) => ({
        hash: transaction.hash,
        read: await readTransactionTraces({ chain, pool }, { ...transaction, value: BigInt(value) }, signal),
      })),
    );
    for (const { hash: one, read } of reads) {
      if ('refusals' in read) return null;
      traced.push({ hash: one, calls: internalTransactionRecords(read.calls) });
    }
  }
  return traced;
}
