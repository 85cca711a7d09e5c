import type { StateKind, StateReader } from '@chainstead/node-reads';
import { StateUnavailableError } from '@chainstead/node-reads/requests';
import { z } from 'zod';
import {
  hash,
  proofMarkSchema,
  transactionRecord,
  transactionRecordSchema,
} from '../records/transaction-record.ts';
import { placeOf, readBlock } from './read-block.ts';

const answerSchema = z.object({
  /** Milliseconds since the epoch. */
  readAt: z.number(),
  found: z
    .object({
      block: z.object({ number: z.int(), hash, timestamp: z.int() }),
      transaction: transactionRecordSchema,
      proof: proofMarkSchema,
      finalized: z.boolean(),
    })
    .nullable(),
});

const questionSchema = z.object({
  hash: z
    .string()
    .regex(/^0x[0-9a-f]{64}$/)
    .pipe(hash),
});

export type TransactionAnswer = z.infer<typeof answerSchema>;
export type FoundTransaction = NonNullable<TransactionAnswer['found']>;

export const transactionKind: StateKind<z.infer<typeof questionSchema>, TransactionAnswer> = {
  name: 'transaction',
  question: questionSchema,
  answer: answerSchema,
};

export const transactionReader: StateReader<z.infer<typeof questionSchema>, TransactionAnswer> = {
  kind: transactionKind,
  async read(context, { hash }, signal) {
    const { chain, pool, clock } = context;
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
