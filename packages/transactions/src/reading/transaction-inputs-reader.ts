import { type Hash, type Hex, isLowerHex } from '@chainstead/core';
import { type StateKind, type StateReader, StateUnavailableError } from '@chainstead/node-reads';
import { checkTransactionHash } from '@chainstead/proof';
import { z } from 'zod';

const HASH_LENGTH = 66;
const hash = z.custom<Hash>((value) => typeof value === 'string' && isLowerHex(value, HASH_LENGTH));
const bytes = z.custom<Hex>((value) => typeof value === 'string' && /^0x(?:[0-9a-f]{2})*$/.test(value));

interface Question {
  /** In the order of their digits, so that requests for the same ones share the read. */
  hashes: Hash[];
}
export interface InputsAnswer {
  /** Milliseconds since the Unix epoch. */
  readAt: number;
  /** In request order. */
  inputs: Hex[];
}

/**
 * The calldata of transactions of which only the first four bytes are stored, each proven by the transaction's hash.
 */
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
    const answers = await pool.requestMany(
      'eth_getTransactionByHash',
      hashes.map((one) => [one]),
      { signal },
    );
    const inputs = hashes.map((requested, place) => {
      const answer = answers[place];
      const given = Object(answer?.value) as Readonly<Record<string, unknown>>;
      const reason = wrongIn(given, requested);
      if (reason === null) return String(given.input ?? given.data).toLowerCase() as Hex;
      if (answer !== undefined && answer.value !== null)
        pool.reportFault(answer.upstream, 'transaction-hash-mismatch', { reason, transaction: requested });
      throw new StateUnavailableError(`No node of ${chain.name} returned transaction ${requested} as indexed`);
    });
    return { readAt, inputs };
  },
};

/**
 * Returns why a result is rejected; null if it is accepted. For types with an unknown encoding, the node is trusted.
 */
function wrongIn(given: Readonly<Record<string, unknown>>, requested: Hash): string | null {
  if (String(given.hash).toLowerCase() !== requested) return 'another transaction';
  const { result } = checkTransactionHash(given);
  return result === 'mismatch' || result === 'malformed' ? `hash ${result}` : null;
}
