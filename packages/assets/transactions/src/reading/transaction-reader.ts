import { type Hash, parseHash } from '@chainstead/core';
import type { StateKind, StateReader } from '@chainstead/node-reads';
import { StateUnavailableError } from '@chainstead/node-reads/requests';
import { z } from 'zod';
import { transactionRecord, transactionRecordSchema } from '../records/transaction-record.ts';
import { placeOf, proofMarkSchema, readBlock } from './read-block.ts';

const answerSchema = z.object({
  /** Milliseconds since the epoch. */
  readAt: z.number(),
  found: z
    .object({
      block: z.object({ number: z.int(), hash: z.string(), timestamp: z.int() }),
      transaction: transactionRecordSchema,
      proof: proofMarkSchema,
      finalized: z.boolean(),
    })
    .nullable(),
});

interface Question {
  hash: string;
}
export type TransactionAnswer = z.infer<typeof answerSchema>;
export type FoundTransaction = NonNullable<TransactionAnswer['found']>;

export const transactionKind: StateKind<Question, TransactionAnswer> = {
  name: 'transaction',
  question: z.object({ hash: z.string().regex(/^0x[0-9a-f]{64}$/) }),
  answer: answerSchema,
};

export const transactionReader: StateReader<Question, TransactionAnswer> = {
  kind: transactionKind,
  async read(context, question, signal) {
    const { chain, pool, clock } = context;
    const hash: Hash = parseHash(question.hash);
    const readAt = clock.now();
    const number = await placeOf(pool, 'eth_getTransactionByHash', [hash], signal);
    if (number === null) return { readAt, found: null };
    // By number: then it is in the chain.
    const read = await readBlock(context, { at: number, sendersOf: hash }, signal);
    if (read === null) throw new StateUnavailableError(`No node of ${chain.name} has block ${number}`);
    const executed = read.transactions.find((one) => one.hash === hash);
    if (executed === undefined) throw new StateUnavailableError(`Transaction ${hash} is moving to another block`);
    const { header, proof, finalized, committed } = read;
    return {
      readAt,
      found: {
        block: { number: header.number, hash: header.hash, timestamp: header.timestamp },
        transaction: transactionRecord(executed, header, chain),
        proof: committed.has(hash) ? proof : 'none',
        finalized,
      },
    };
  },
};
