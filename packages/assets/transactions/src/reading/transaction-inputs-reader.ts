import { type Hash, type Hex, isLowerHex } from '@chainstead/core';
import type { StateKind, StateReader } from '@chainstead/node-reads';
import { StateUnavailableError } from '@chainstead/node-reads/requests';
import { checkTransactionHash } from '@chainstead/proof';
import { z } from 'zod';

const HASH_LENGTH = 66;
const hash = z.custom<Hash>((value) => typeof value === 'string' && isLowerHex(value, HASH_LENGTH));
const bytes = z.custom<Hex>((value) => typeof value === 'string' && /^0x(?:[0-9a-f]{2})*$/.test(value));

interface Question {
  /** Sorted: equal requests share the read. */
  hashes: Hash[];
}
export interface InputsAnswer {
  /** Milliseconds since the epoch. */
  readAt: number;
  inputs: Hex[];
}

/** Only the first four bytes are stored. Proven by the hash. */
export const transactionInputsKind: StateKind<Question, InputsAnswer> = {
  name: 'transaction-inputs',
  question: z.object({ hashes: z.array(hash).min(1) }),
  answer: z.object({ readAt: z.number(), inputs: z.array(bytes) }),
  callsOf: ({ hashes }) => hashes.length,
};

export const transactionInputsReader: StateReader<Question, InputsAnswer> = {
  kind: transactionInputsKind,
  async read({ chain, pool, clock }, { hashes }, signal) {
    const readAt = clock.now();
    const params = hashes.map((requested) => [requested]);
    const answers = await pool.requestMany('eth_getTransactionByHash', params, { signal });
    const inputs = hashes.map((requested, index) => {
      const answer = answers[index];
      const transaction = Object(answer?.value) as Readonly<Record<string, unknown>>;
      const reason = wrongIn(transaction, requested);
      if (reason === null) return String(transaction.input ?? transaction.data).toLowerCase() as Hex;
      if (answer !== undefined && answer.value !== null)
        pool.reportFault(answer.upstream, 'transaction-hash-mismatch', { reason, transaction: requested });
      throw new StateUnavailableError(`No node of ${chain.name} returned transaction ${requested} as indexed`);
    });
    return { readAt, inputs };
  },
};

/** Null: accepted. Types of unknown encoding are trusted. */
function wrongIn(transaction: Readonly<Record<string, unknown>>, requested: Hash): string | null {
  if (String(transaction.hash).toLowerCase() !== requested) return 'another transaction';
  const { result } = checkTransactionHash(transaction);
  return result === 'mismatch' || result === 'malformed' ? `hash ${result}` : null;
}
