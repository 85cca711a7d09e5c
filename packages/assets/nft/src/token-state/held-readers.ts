import type { Chain } from '@chainstead/chains';
import { type Address, type Hex, parseAddress, ZERO_ADDRESS } from '@chainstead/core';
import { addressAt, decodeAbi, returnedNumber, returnedWord } from '@chainstead/events/abi';
import { type StateKind, type StateReader, stateAt } from '@chainstead/node-reads';
import { committedBlock, fetchInParts, type ReadingContext, SILENCE_MS } from '@chainstead/node-reads/requests';
import { z } from '@hono/zod-openapi';
import { encodeFunctionData, parseAbi } from 'viem/utils';
import type { TokenKey } from '../collections/token-rows.ts';
import { type RecordKey, recordId } from '../records/nft-record.ts';

type HeldReader = StateReader<{ items: string[] }, (readonly [item: string, reported: string | null])[]>;

const itemsOf = (item: RegExp) => z.object({ items: z.array(z.string().regex(item)).min(1) });

const answer = z.array(z.tuple([z.string(), z.string().nullable()]));

/** Pages cover many contracts: failures don't share a cause. */
const failsAlike = (): string => '';

const NFT_OWNERS: StateKind<Items, Reported> = {
  name: 'nft-owners',
  question: itemsOf(/^0x[0-9a-f]{40}:\d+$/),
  answer,
  failsAlike,
};

export const nftOwnersNow: HeldReader = {
  kind: NFT_OWNERS,
  async read({ chain, pool, database }, { items }, signal) {
    const block = await committedBlock(database, chain);
    if (block === null) return [];
    const calls = items.map((item) => {
      const [address = '', tokenId = ''] = item.split(':');
      const data = encodeFunctionData({ abi: OWNER_OF, args: [BigInt(tokenId)] });
      return { to: parseAddress(address), data };
    });
    const answers = await stateAt(pool, chain, block).fetchTogether(calls, signal);
    return items.flatMap((item, index) => {
      const answer = answers[index];
      if (answer === undefined || answer.unread !== undefined) return [];
      const owner = addressAt(returnedWord(answer.data) ?? undefined);
      return [[item, owner === ZERO_ADDRESS ? null : owner] as const];
    });
  },
};

const NFT_AMOUNTS: StateKind<Items, Reported> = {
  name: 'nft-amounts',
  question: itemsOf(/^0x[0-9a-f]{40}:\d+:0x[0-9a-f]{40}$/),
  answer,
  failsAlike,
};

/** One call per contract, and one per holding if that returns nothing usable. */
export const nftAmountsNow: HeldReader = {
  kind: NFT_AMOUNTS,
  async read({ chain, pool, database }, { items }, signal) {
    const block = await committedBlock(database, chain);
    if (block === null) return [];
    const state = stateAt(pool, chain, block);
    const holdings = items.map((item) => {
      const [address = '', tokenId = '', owner = ''] = item.split(':');
      return { item, address: parseAddress(address), id: BigInt(tokenId), owner: parseAddress(owner) };
    });
    const batches = [...Map.groupBy(holdings, ({ address }) => address)];
    const batchCalls = batches.map(([to, batch]) => {
      const args = [batch.map(({ owner }) => owner), batch.map(({ id }) => id)] as const;
      return { to, data: encodeFunctionData({ abi: ERC1155, functionName: 'balanceOfBatch', args }) };
    });
    const answers = await state.callTogether(batchCalls, signal);
    const reported = new Map<string, string | null>();
    const refused: typeof holdings = [];
    for (const [position, [, batch]] of batches.entries()) {
      const amounts = readAmounts(answers[position] ?? null, batch.length);
      if (amounts === null) refused.push(...batch);
      else
        for (const [index, { item }] of batch.entries()) reported.set(item, amounts[index]?.toString() ?? null);
    }
    const singles = refused.slice(0, SINGLES_MAX);
    const singleCalls = singles.map(({ address, owner, id }) => {
      return {
        to: address,
        data: encodeFunctionData({ abi: ERC1155, functionName: 'balanceOf', args: [owner, id] }),
      };
    });
    const amounts = await state.fetchTogether(singleCalls, signal);
    for (const [index, { item }] of singles.entries()) {
      const answer = amounts[index];
      if (answer !== undefined && answer.unread === undefined)
        reported.set(item, returnedNumber(answer.data)?.toString() ?? null);
    }
    return items.flatMap((item) => {
      const amount = reported.get(item);
      return amount === undefined ? [] : [[item, amount] as const];
    });
  },
};

/** Per state read. The amounts of the others stay unknown. */
const SINGLES_MAX = 25;

const OWNER_OF = parseAbi(['function ownerOf(uint256 id) view returns (address)']);
const ERC1155 = parseAbi([
  'function balanceOf(address owner, uint256 id) view returns (uint256)',
  'function balanceOfBatch(address[] owners, uint256[] ids) view returns (uint256[])',
]);

function readAmounts(answer: Hex | null, count: number): readonly bigint[] | null {
  if (answer === null) return null;
  try {
    const [amounts] = decodeAbi(ERC1155[1].outputs, answer);
    return amounts.length === count ? amounts : null;
  } catch {
    return null;
  }
}

type NftHolding = TokenKey & { readonly owner: Address };

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
