import type { Chain } from '@chainstead/chains';
import { type Address, parseAddress } from '@chainstead/core';
import type { StateKind } from '@chainstead/node-reads';
import { fetchInParts, type ReadingContext, SILENCE_MS } from '@chainstead/node-reads/requests';
import { z } from '@hono/zod-openapi';
import type { TokenKey } from '../collections/token-rows.ts';
import { type RecordKey, recordId } from '../records/nft-record.ts';

export type NftHolding = TokenKey & { readonly owner: Address };

/** Calls contracts where transfers don't show the holder. */
export interface HeldNow {
  /** ERC-721, by {@link recordId}. Missing: no result in time, or no owner. */
  ownersOf(chain: Chain, tokens: readonly TokenKey[]): Promise<ReadonlyMap<string, Address>>;
  /** ERC-1155, decimal digits by {@link holdingId}. Missing: no result in time. */
  amountsOf(chain: Chain, holdings: readonly NftHolding[]): Promise<ReadonlyMap<string, string>>;
}

export const NOBODY_REQUESTED: HeldNow = {
  ownersOf: async () => new Map(),
  amountsOf: async () => new Map(),
};

const MAX_AGE_MS = 5_000;

export function createHeldNow(context: ReadingContext): HeldNow {
  const ask = async (chain: Chain, kind: typeof NFT_OWNERS, items: readonly string[]) => {
    const patience = { maxAgeMs: MAX_AGE_MS, fruitlessMs: SILENCE_MS };
    const answers = await fetchInParts(context, chain, kind, { items, ...patience });
    return answers.flat().flatMap(([item, reported]) => (reported === null ? [] : [[item, reported] as const]));
  };
  return {
    async ownersOf(chain, tokens) {
      const reported = await ask(chain, NFT_OWNERS, tokens.map(recordId));
      return new Map(reported.map(([item, owner]) => [item, parseAddress(owner)]));
    },
    amountsOf: async (chain, holdings) => new Map(await ask(chain, NFT_AMOUNTS, holdings.map(holdingId))),
  };
}

export function holdingId({ address, tokenId, owner }: NftHolding): string {
  return `${recordId({ address, tokenId })}:${owner}`;
}

/** Keys without a result or a balance are left out. */
export async function withAmountsNow<Key extends RecordKey & { readonly owner: Address }>(
  heldNow: HeldNow,
  chain: Chain,
  keys: readonly Key[],
): Promise<readonly Key[]> {
  const reported = keys.length === 0 ? new Map<string, string>() : await heldNow.amountsOf(chain, keys);
  return keys.flatMap((key) => {
    const amount = reported.get(holdingId(key));
    // Invariant: NFT-OWNERS
    return amount === undefined || amount === '0' ? [] : [{ ...key, amount }];
  });
}

interface Items {
  items: string[];
}

type Reported = (readonly [item: string, reported: string | null])[];

/** Pages cover many contracts: failures don't share a cause. */
const failsAlike = (): string => '';

const answer = z.array(z.tuple([z.string(), z.string().nullable()]));
const itemsOf = (item: RegExp) => z.object({ items: z.array(z.string().regex(item)).min(1) });

export const NFT_OWNERS: StateKind<Items, Reported> = {
  name: 'nft-owners',
  question: itemsOf(/^0x[0-9a-f]{40}:\d+$/),
  answer,
  failsAlike,
};

export const NFT_AMOUNTS: StateKind<Items, Reported> = {
  name: 'nft-amounts',
  question: itemsOf(/^0x[0-9a-f]{40}:\d+:0x[0-9a-f]{40}$/),
  answer,
  failsAlike,
};
