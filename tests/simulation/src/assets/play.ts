/** Makes blocks: some actions each, in the order in which they were drawn. */
import type { Address } from '@chainstead/core';
import { requestNode, type SeededRandom } from '@chainstead/testkit';
import { callAt, fetchTogether } from '../story/node.ts';
import { drawWeighted } from '../story/story-node.ts';
import type { Draft, Sending } from './drafts.ts';
import {
  burnCat,
  burnPrints,
  mintCat,
  mintPrints,
  moveCat,
  moveFounder,
  moveLazy,
  movePrints,
} from './nft-actions.ts';
import {
  airdrop,
  approve,
  burnTokens,
  deposit,
  mintTokens,
  pretend,
  pretendApproval,
  rebase,
  transferFrom,
  transferTokens,
  withdraw,
} from './token-actions.ts';
import type { AssetsWorld } from './world.ts';

/** Ample for the longest batch, and little enough for eight in a block. */
const GAS = '0x2dc6c0';

/** Draws so many actions, sends what comes of them and mines a block. Some revert: the chain moved meanwhile. @returns what was sent */
export async function mineActions(
  world: AssetsWorld,
  random: SeededRandom,
  count: number,
): Promise<readonly Sending[]> {
  const { url } = world.devnet;
  const drafts = Array.from({ length: count }, () => drawAction(world, random));
  const said = await callAt(
    url,
    drafts.flatMap(({ reads }) => reads),
    'latest',
  );
  let place = 0;
  const sendings = drafts.flatMap((draft) => {
    const own = said.slice(place, place + draft.reads.length);
    place += draft.reads.length;
    return draft.make(own) ?? [];
  });
  const nonces = await readNonces(
    url,
    sendings.map(({ from }) => from),
  );
  for (const { from, to, data, value = 0n } of sendings) {
    const nonce = nonces.get(from) ?? 0;
    nonces.set(from, nonce + 1);
    const transaction = { from, to, data, value: toQuantity(value), gas: GAS, nonce: toQuantity(nonce) };
    await requestNode(url, 'eth_sendTransaction', [transaction]);
  }
  await requestNode(url, 'evm_mine');
  return sendings;
}

async function readNonces(url: string, senders: readonly Address[]): Promise<Map<Address, number>> {
  const distinct = [...new Set(senders)];
  const questions = distinct.map((from) => ({ method: 'eth_getTransactionCount', params: [from, 'latest'] }));
  const counts = await fetchTogether(url, questions);
  return new Map(distinct.map((from, index) => [from, Number(counts[index])]));
}

function toQuantity(value: number | bigint): string {
  return `0x${value.toString(16)}`;
}

/** With how often it is done. */
const KINDS: readonly (readonly [weight: number, draw: (world: AssetsWorld, random: SeededRandom) => Draft])[] = [
  [10, mintTokens],
  [28, transferTokens],
  [9, transferFrom],
  [12, approve],
  [3, burnTokens],
  [3, airdrop],
  [2, rebase],
  [4, deposit],
  [3, withdraw],
  [3, pretend],
  [1, pretendApproval],
  [7, mintCat],
  [8, moveCat],
  [1, burnCat],
  [3, moveLazy],
  [3, moveFounder],
  [4, mintPrints],
  [7, movePrints],
  [2, burnPrints],
];
function drawAction(world: AssetsWorld, random: SeededRandom): Draft {
  return drawWeighted(random, KINDS)(world, random);
}
