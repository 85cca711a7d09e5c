/** Reads NFT holdings from contracts at the newest indexed block. Runs in the worker role. */
import { addressAt, decodeAbi, returnedNumber, returnedWord } from '@chainstead/abi';
import { type Address, type Hex, parseAddress, ZERO_ADDRESS } from '@chainstead/core';
import { committedBlock, type StateReader, stateAt } from '@chainstead/node-reads';
import { encodeFunctionData, parseAbi } from 'viem/utils';
import { NFT_AMOUNTS, NFT_OWNERS } from './held-kinds.ts';
import type { Holding } from './held-now.ts';

type HeldReader = StateReader<{ items: string[] }, (readonly [item: string, reported: string | null])[]>;

/** Reads the owners of ids. */
export const nftOwnersNow: HeldReader = {
  kind: NFT_OWNERS,
  async read({ chain, pool, database }, { items }, signal) {
    const block = await committedBlock(database, chain);
    if (block === null) return [];
    const calls = items.map((item) => {
      const [address = '', tokenId = ''] = item.split(':');
      return { to: parseAddress(address), data: ownerOfCall(tokenId) };
    });
    const answers = await stateAt(pool, chain, block).fetchTogether(calls, signal);
    return items.flatMap((item, place) => {
      const answer = answers[place];
      return answer === undefined || answer.unread !== undefined ? [] : [[item, readOwner(answer.data)] as const];
    });
  },
};

/** Reads accounts' balances of ids: one call per contract, and one per holding if that returns nothing usable. */
export const nftAmountsNow: HeldReader = {
  kind: NFT_AMOUNTS,
  async read({ chain, pool, database }, { items }, signal) {
    const block = await committedBlock(database, chain);
    if (block === null) return [];
    const state = stateAt(pool, chain, block);
    const batches = [...Map.groupBy(items.map(readHolding), ({ address }) => address).values()];
    const answers = await state.callTogether(batches.map(batchCall), signal);
    const reported = new Map<string, string | null>();
    const refused: RequestedHolding[] = [];
    for (const [place, batch] of batches.entries()) {
      const amounts = readAmounts(answers[place] ?? null, batch.length);
      if (amounts === null) refused.push(...batch);
      else for (const [index, { item }] of batch.entries()) reported.set(item, amounts[index]?.toString() ?? null);
    }
    const single = refused.slice(0, SINGLES_MAX);
    const alone = await state.fetchTogether(single.map(singleCall), signal);
    for (const [place, { item }] of single.entries()) {
      const answer = alone[place];
      if (answer !== undefined && answer.unread === undefined) reported.set(item, readAmount(answer.data));
    }
    return items.flatMap((item) => {
      const amount = reported.get(item);
      return amount === undefined ? [] : [[item, amount] as const];
    });
  },
};

/**
 * Maximum single calls per state read: a request for 25 ids may have ten candidates each. The amounts of the others
 * stay unknown.
 */
const SINGLES_MAX = 25;

interface RequestedHolding extends Holding {
  readonly item: string;
}

function readHolding(item: string): RequestedHolding {
  const [address = '', tokenId = '', owner = ''] = item.split(':');
  return { item, address: parseAddress(address), tokenId, owner: parseAddress(owner) };
}

const ERC1155 = parseAbi([
  'function balanceOf(address owner, uint256 id) view returns (uint256)',
  'function balanceOfBatch(address[] owners, uint256[] ids) view returns (uint256[])',
]);

interface Call {
  readonly to: Address;
  readonly data: Hex;
}

function batchCall(batch: readonly RequestedHolding[]): Call {
  const args = [batch.map(({ owner }) => owner), batch.map(({ tokenId }) => BigInt(tokenId))] as const;
  const data = encodeFunctionData({ abi: ERC1155, functionName: 'balanceOfBatch', args });
  return { to: batch[0]?.address ?? ZERO_ADDRESS, data };
}

function singleCall({ address, tokenId, owner }: RequestedHolding): Call {
  const data = encodeFunctionData({ abi: ERC1155, functionName: 'balanceOf', args: [owner, BigInt(tokenId)] });
  return { to: address, data };
}

function readAmounts(answer: Hex | null, count: number): readonly bigint[] | null {
  if (answer === null) return null;
  try {
    const [amounts] = decodeAbi(ERC1155[1].outputs, answer);
    return amounts.length === count ? amounts : null;
  } catch {
    // The contract returned something else: the single calls decide.
    return null;
  }
}

function readAmount(answer: Hex | null): string | null {
  return returnedNumber(answer)?.toString() ?? null;
}

function ownerOfCall(tokenId: string): Hex {
  return `0x6352211e${BigInt(tokenId).toString(16).padStart(64, '0')}`;
}

/** The zero address and a malformed address are not owners. */
function readOwner(answer: Hex | null): Address | null {
  const owner = addressAt(returnedWord(answer) ?? undefined);
  return owner === ZERO_ADDRESS ? null : owner;
}
