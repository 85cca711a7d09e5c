/** Draws what is done next. */
import type { SeededRandom } from '@chainstead/testkit';
import { drawWeighted } from '../story/story-node.ts';
import type { Draft } from './drafts.ts';
import { burnCat, burnPrints, mintCat, mintPrints, moveCat, moveFounder, moveLazy, movePrints } from './nft-actions.ts';
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
export function drawAction(world: AssetsWorld, random: SeededRandom): Draft {
  return drawWeighted(random, KINDS)(world, random);
}
