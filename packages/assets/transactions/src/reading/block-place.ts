import { type Hash, parseHash, parseQuantity } from '@chainstead/core';
import type { StateReadingContext } from '@chainstead/node-reads';
import { committedBlock } from '@chainstead/node-reads/requests';
import { newestFinal } from './finality.ts';

export const BLOCK_TAGS = ['latest', 'safe', 'finalized', 'earliest'] as const;
export type BlockTag = (typeof BLOCK_TAGS)[number];
export type BlockPlace = number | Hash | BlockTag;

/** Undefined: invalid. 64 digits are a hash, fewer a number. */
export function parseBlockPlace(text: string): BlockPlace | undefined {
  const lower = text.toLowerCase();
  const tag = BLOCK_TAGS.find((name) => name === lower);
  if (tag !== undefined) return tag;
  if (/^0x[0-9a-f]{64}$/.test(lower)) return parseHash(lower);
  const isNumber = /^(?:\d{1,16}|0x[0-9a-f]{1,14})$/.test(lower);
  const number = isNumber ? Number(lower) : Number.NaN;
  return Number.isSafeInteger(number) ? number : undefined;
}

/** `latest`: the newest indexed block, so that later requests can be served. */
export async function resolveTag(
  context: Pick<StateReadingContext, 'chain' | 'pool' | 'database'>,
  place: BlockPlace,
  signal: AbortSignal,
): Promise<number | Hash> {
  const { chain, pool, database } = context;
  switch (place) {
    case 'earliest':
      return chain.firstBlock;
    case 'latest':
      return (await committedBlock(database, chain))?.number ?? (await pool.getHead({ signal })).value.number;
    case 'finalized':
      return Math.max(chain.firstBlock, await newestFinal(context, signal));
    case 'safe': {
      if (!chain.finalizedTag) return Math.max(chain.firstBlock, await newestFinal(context, signal));
      const { value } = await pool.request('eth_getBlockByNumber', ['safe', false], { signal });
      return parseQuantity((Object(value) as { readonly number?: unknown }).number);
    }
    default:
      return place;
  }
}
