import { type Hex, parseAddress, ZERO_ADDRESS } from '@chainstead/core';
import { addressAt, decodeAbi, returnedNumber, returnedWord } from '@chainstead/events/abi';
import { type StateReader, stateAt } from '@chainstead/node-reads';
import { committedBlock } from '@chainstead/node-reads/requests';
import { encodeFunctionData, parseAbi } from 'viem/utils';
import { NFT_AMOUNTS, NFT_OWNERS } from './held-now.ts';

type HeldReader = StateReader<{ items: string[] }, (readonly [item: string, reported: string | null])[]>;

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
