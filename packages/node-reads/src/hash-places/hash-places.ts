import type { Chain } from '@chainstead/chains';
import { errorText, type Hash, parseQuantity } from '@chainstead/core';
import { standardHeader, standardTransaction } from '@chainstead/rpc';
import { z } from 'zod';
import type { ReadingContext } from '../calls/fetch-in-parts.ts';
import { StateUnavailableError } from '../state-error.ts';
import type { StateKind, StateReader } from '../state-kind.ts';

/** What a hash names, and in which block that is. */
export interface HashPlace {
  readonly kind: 'transaction' | 'block';
  readonly blockNumber: number;
}

interface Question {
  hash: string;
}

/** `place` null: no node has it, or it is in no block yet. */
interface Reported {
  place: HashPlace | null;
}

const hashPlacesKind: StateKind<Question, Reported> = {
  name: 'hash-places',
  question: z.object({ hash: z.string().regex(/^0x[0-9a-f]{64}$/) }),
  answer: z.object({
    place: z.object({ kind: z.enum(['transaction', 'block']), blockNumber: z.int().min(0) }).nullable(),
  }),
};

/** Repeated look-ups share the result for so long. Milliseconds. */
const MAX_AGE_MS = 30_000;

/** As far as they are of use. A transaction that waits is in no block. */
const transactionSchema = z.object({ hash: z.string(), blockNumber: z.string() });
const blockSchema = z.object({ hash: z.string(), number: z.string() });

/**
 * Where a hash is on a chain. Rows are found by their block: no index has hashes of transactions. Read from a node within `waitMs`.
 * @returns null if no node has it, undefined if none responded in time
 */
export async function placeOfHash(
  { nodeReads, logger }: Pick<ReadingContext, 'nodeReads' | 'logger'>,
  chain: Chain,
  hash: Hash,
  waitMs: number,
): Promise<HashPlace | null | undefined> {
  try {
    const reported = await nodeReads.request(chain, hashPlacesKind, { hash }, { waitMs, maxAgeMs: MAX_AGE_MS });
    return reported === null ? undefined : reported.place;
  } catch (error) {
    if (!(error instanceof StateUnavailableError)) throw error;
    logger.debug({ chain: chain.key, hash, error: errorText(error) }, 'No node returned the block of a hash');
    return undefined;
  }
}

/** Asks a chain's nodes for the transaction, and for the block, of a hash. */
export const hashPlacesReader: StateReader<Question, Reported> = {
  kind: hashPlacesKind,
  async read({ pool }, { hash }, signal) {
    const [[transaction], [block]] = await Promise.all([
      pool.requestMany('eth_getTransactionByHash', [[hash]], { signal }),
      pool.requestMany('eth_getBlockByHash', [[hash, false]], { signal }),
    ]);
    return { place: transactionPlace(transaction?.value, hash) ?? blockPlace(block?.value, hash) };
  },
};

/** null for a transaction other than the requested one. */
function transactionPlace(value: unknown, hash: string): HashPlace | null {
  const { data } = transactionSchema.safeParse(standardTransaction(Object(value)));
  if (data?.hash.toLowerCase() !== hash) return null;
  return { kind: 'transaction', blockNumber: parseQuantity(data.blockNumber) };
}

function blockPlace(value: unknown, hash: string): HashPlace | null {
  const { data } = blockSchema.safeParse(standardHeader(Object(value)));
  return data?.hash.toLowerCase() === hash ? { kind: 'block', blockNumber: parseQuantity(data.number) } : null;
}
