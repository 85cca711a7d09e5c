import type { Chain } from '@chainstead/chains';
import { type Address, parseAddress } from '@chainstead/core';
import { askInParts, type ReadingContext, SILENCE_MS } from '@chainstead/state';
import type { TokenKey } from '../collections/token-rows.ts';
import { type RecordKey, recordId } from '../records/nft-record.ts';
import { NFT_AMOUNTS, NFT_OWNERS } from './held-kinds.ts';

/** An id, and who may hold some of it. */
export interface Holding extends TokenKey {
  readonly owner: Address;
}

/** What contracts say of who holds what, at the newest indexed block: for what transfers don't tell. */
export interface HeldNow {
  /** Owners of ids of ERC-721, by {@link recordId}. Those that were not told in time are missing, and those that nobody owns. */
  ownersOf(chain: Chain, tokens: readonly TokenKey[]): Promise<ReadonlyMap<string, Address>>;
  /** Amounts of ERC-1155 in decimal digits, by {@link holdingId}. Those that were not told in time are missing. */
  amountsOf(chain: Chain, holdings: readonly Holding[]): Promise<ReadonlyMap<string, string>>;
}

/** No contract is asked. */
export const NOBODY_ASKED: HeldNow = {
  ownersOf: async () => new Map(),
  amountsOf: async () => new Map(),
};

/** An answer is good for so long: whoever pages back and forth asks no node again. Milliseconds. */
const MAX_AGE_MS = 5_000;

/** @param waitMs how long a request waits for what it has asked */
export function createHeldNow(context: ReadingContext, waitMs: number): HeldNow {
  const ask = async (chain: Chain, kind: typeof NFT_OWNERS, items: readonly string[]) => {
    const patience = { waitMs, maxAgeMs: MAX_AGE_MS, fruitlessMs: SILENCE_MS };
    const answers = await askInParts(context, chain, kind, { items, ...patience });
    return answers.flat().flatMap(([item, told]) => (told === null ? [] : [[item, told] as const]));
  };
  return {
    async ownersOf(chain, tokens) {
      const told = await ask(chain, NFT_OWNERS, tokens.map(recordId));
      return new Map(told.map(([item, owner]) => [item, parseAddress(owner)]));
    },
    amountsOf: async (chain, holdings) => new Map(await ask(chain, NFT_AMOUNTS, holdings.map(holdingId))),
  };
}

/** A holding's name among those of a question. */
export function holdingId({ address, tokenId, owner }: Holding): string {
  return `${recordId({ address, tokenId })}:${owner}`;
}

/** The keys with the amounts that contracts tell now; those of which nothing is told, or nothing is held, are left out. */
export async function withAmountsNow<Key extends RecordKey & { readonly owner: Address }>(
  heldNow: HeldNow,
  chain: Chain,
  keys: readonly Key[],
): Promise<readonly Key[]> {
  const told = keys.length === 0 ? new Map<string, string>() : await heldNow.amountsOf(chain, keys);
  return keys.flatMap((key) => {
    const amount = told.get(holdingId(key));
    return amount === undefined || amount === '0' ? [] : [{ ...key, amount }];
  });
}
