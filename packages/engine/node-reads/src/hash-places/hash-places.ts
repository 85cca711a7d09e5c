import type { Chain } from '@chainstead/chains';
import { type Hash, parseQuantity } from '@chainstead/core';
import { standardHeader, standardTransaction } from '@chainstead/rpc/standard-form';
import { z } from 'zod';
import type { ReadingContext } from '../calls/fetch-in-parts.ts';
import { unlessUnavailable } from '../state-error.ts';
import type { StateKind, StateReader } from '../state-kind.ts';

export interface HashPlace {
  readonly kind: 'transaction' | 'block';
  readonly blockNumber: number;
}

/** `place` null: no node has it, or it is in no block yet. */
const hashPlacesKind: StateKind<{ hash: string }, { place: HashPlace | null }> = {
  name: 'hash-places',
  question: z.object({ hash: z.string().regex(/^0x[0-9a-f]{64}$/) }),
  answer: z.object({
    place: z.object({ kind: z.enum(['transaction', 'block']), blockNumber: z.int().min(0) }).nullable(),
  }),
};

const MAX_AGE_MS = 30_000;

const transactionSchema = z.object({ hash: z.string(), blockNumber: z.string() });
const blockSchema = z.object({ hash: z.string(), number: z.string() });

/** Null if no node has it, undefined if none responded in time. */
export async function placeOfHash(
  { nodeReads, logger }: Pick<ReadingContext, 'nodeReads' | 'logger'>,
  chain: Chain,
  hash: Hash,
): Promise<HashPlace | null | undefined> {
  const read = nodeReads.request(chain, hashPlacesKind, { hash }, { maxAgeMs: MAX_AGE_MS });
  const missing = { message: 'No node returned the block of a hash', chain: chain.key, hash };
  return (await unlessUnavailable(logger, missing, read))?.place;
}

export const hashPlacesReader: StateReader<{ hash: string }, { place: HashPlace | null }> = {
  kind: hashPlacesKind,
  async read({ pool }, { hash }, signal) {
    const [[transaction], [block]] = await Promise.all([
      pool.requestMany('eth_getTransactionByHash', [[hash]], { signal }),
      pool.requestMany('eth_getBlockByHash', [[hash, false]], { signal }),
    ]);
    // A node may return another transaction or block than the requested one.
    const { data: mined } = transactionSchema.safeParse(standardTransaction(Object(transaction?.value)));
    if (mined?.hash.toLowerCase() === hash)
      return { place: { kind: 'transaction', blockNumber: parseQuantity(mined.blockNumber) } };
    const { data: header } = blockSchema.safeParse(standardHeader(Object(block?.value)));
    if (header?.hash.toLowerCase() !== hash) return { place: null };
    return { place: { kind: 'block', blockNumber: parseQuantity(header.number) } };
  },
};
