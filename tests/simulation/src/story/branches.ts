/** Branches of a story's chain. */
import { type Devnet, requestNode } from '@chainstead/testkit';
import { readHead } from './node.ts';

export interface BranchingWorld {
  readonly devnet: Devnet;
  /** Every contract stands after this block: no reorganisation goes below it, as nothing would put them there again. */
  readonly madeIn: number;
}

/** Another branch takes the place of so many of the newest blocks, of fewer where the contracts were made in them; it is empty at first. */
export async function reorganise({ devnet, madeIn }: BranchingWorld, depth: number): Promise<void> {
  const { number } = await readHead(devnet.url);
  if (number > madeIn) await devnet.reorg(Math.min(depth, number - madeIn));
}

/** A branch that comes to nothing: the chain is shorter afterwards, until it grows again. */
export async function tryBranch({ devnet }: BranchingWorld, whileItStands: () => Promise<void>): Promise<void> {
  const before = await requestNode(devnet.url, 'evm_snapshot');
  await whileItStands();
  await requestNode(devnet.url, 'evm_revert', [before]);
}
