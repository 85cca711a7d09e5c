import type { Chain } from '@chainstead/chains';
import { type Finding, findingsOf, toQuantity, ZERO_ADDRESS } from '@chainstead/core';
import type { NodeProbe } from './node-probe.ts';
import { isBlock, largestThatWorks, probeBlock } from './read-answers.ts';

const blocks = findingsOf('old blocks');
const state = findingsOf('old state');

const STEPS = 12;

export async function checkOldBlocks(chain: Chain, probe: NodeProbe, head: number): Promise<Finding> {
  const first = Math.min(head, chain.firstBlock + 1);
  const has = async (block: number): Promise<boolean> => isBlock(await probeBlock(probe, block));
  if (await has(first)) return blocks.ok(`from block ${first} on`);
  const depth = await largestThatWorks({ works: 0, fails: head - first, steps: STEPS }, (below) =>
    has(head - below),
  );
  return blocks.warning(
    `from about block ${head - depth} on`,
    'Earlier blocks can’t be read from it.',
    `Set START_BLOCK of the chain to this block or a later one, or add a node with all blocks.`,
  );
}

export async function checkOldState(chain: Chain, probe: NodeProbe, head: number): Promise<Finding> {
  const has = async (block: number): Promise<boolean> =>
    (await probe.ask('eth_getBalance', [ZERO_ADDRESS, toQuantity(block)])).ok;
  if (!(await has(head)))
    return state.bad(
      `none, not even of its head ${head}`,
      'Balances, token names and contract calls can’t be read from it.',
      'Wait until the node has synced its state, or use another node for them.',
    );
  const first = Math.min(head, chain.firstBlock + 1);
  if (await has(first)) return state.ok(`from block ${first} on: an archive node`);
  const depth = await largestThatWorks({ works: 0, fails: head - first, steps: STEPS }, (below) =>
    has(head - below),
  );
  return state.warning(
    `of the last ${depth + 1} blocks or so`,
    'This is enough for logs, transfers and trades. Balances and contract calls at older blocks can’t be read from it.',
    'Add an archive node if clients request balances at old blocks.',
  );
}
