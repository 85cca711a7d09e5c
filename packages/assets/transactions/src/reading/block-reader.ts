import type { Hash } from '@chainstead/core';
import type { StateKind, StateReader, StateReadingContext } from '@chainstead/node-reads';
import { StateUnavailableError } from '@chainstead/node-reads/requests';
import { z } from 'zod';
import { blockRecord, blockRecordSchema } from '../records/block-record.ts';
import { transactionRecord, transactionRecordSchema } from '../records/transaction-record.ts';
import { BLOCK_TAGS, resolveTag } from './block-place.ts';
import { placeOf } from './place-of.ts';
import { proofMarkSchema } from './proof-mark.ts';
import { readBlock } from './read-block.ts';

const hash = z.custom<Hash>((value) => typeof value === 'string' && /^0x[0-9a-f]{64}$/.test(value));
const questionSchema = z.object({ at: z.union([z.int().min(0), hash, z.enum(BLOCK_TAGS)]) });

const answerSchema = z.object({
  /** Milliseconds since the epoch. */
  readAt: z.number(),
  found: z
    .object({
      block: blockRecordSchema,
      transactions: z.array(transactionRecordSchema),
      proof: proofMarkSchema,
      finalized: z.boolean(),
    })
    .nullable(),
});

type Question = z.infer<typeof questionSchema>;
export type BlockAnswer = z.infer<typeof answerSchema>;
export type FoundBlock = NonNullable<BlockAnswer['found']>;

export const blockKind: StateKind<Question, BlockAnswer> = {
  name: 'block',
  question: questionSchema,
  answer: answerSchema,
};

export const blockReader: StateReader<Question, BlockAnswer> = {
  kind: blockKind,
  async read(context, { at: requested }, signal) {
    const readAt = context.clock.now();
    const place = await resolveTag(context, requested, signal);
    const number =
      typeof place === 'number'
        ? place
        : await placeOf(context.pool, 'eth_getBlockByHash', [place, false], signal);
    // By number: blocks of abandoned branches are not in the chain.
    const read = number === null ? null : await readBlock(context, { at: number }, signal);
    if (read === null) {
      if (number !== null) await refuseMissing(context, number, signal);
      return { readAt, found: null };
    }
    const { header, transactions, committed, proof } = read;
    if (typeof place === 'string' && header.hash !== place) return { readAt, found: null };
    return {
      readAt,
      found: {
        block: blockRecord(header),
        transactions: transactions
          .filter(({ hash }) => committed.has(hash))
          .map((one) => transactionRecord(one, header, context.chain)),
        proof,
        finalized: read.finalized,
      },
    };
  },
};

/** @throws StateUnavailableError for a reached number: nodes have lost the block */
async function refuseMissing(
  { chain, pool }: Pick<StateReadingContext, 'chain' | 'pool'>,
  number: number,
  signal: AbortSignal,
): Promise<void> {
  if (number > (await pool.getHead({ signal })).value.number) return;
  throw new StateUnavailableError(`No node of ${chain.name} has block ${number}`);
}
