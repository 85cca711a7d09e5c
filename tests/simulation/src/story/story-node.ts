/** The node of a story: it mines on demand, and keeps its contracts. */
import type { Address } from '@chainstead/core';
import { type Devnet, type SeededRandom, startDevnet } from '@chainstead/testkit';
import { fetchTogether, readHead } from './node.ts';
import type { StoryChain } from './story-chain.ts';

/**
 * Number of blocks whose state the node holds, all in memory. By default it writes most of that to disk from its thousandth block on,
 * and a branch that begins at such a block has lost the code of every contract.
 */
const STATES_KEPT = 1_000;

/** Starts a node, deploys a story's contracts and mines a block. The contracts stand after block `madeIn`. */
export async function startStoryNode<Contracts>(
  chain: StoryChain,
  accounts: number,
  deploy: (devnet: Devnet) => Promise<Contracts>,
): Promise<{ readonly devnet: Devnet; readonly made: Contracts; readonly madeIn: number }> {
  const args = ['--accounts', String(accounts), '--order', 'fifo', '--prune-history', String(STATES_KEPT)];
  const devnet = await startDevnet({ chainId: chain.id, args });
  try {
    const made = await deploy(devnet);
    await devnet.client.setAutomine(false);
    await devnet.mine();
    return { devnet, made, madeIn: (await readHead(devnet.url)).number };
  } catch (error) {
    await devnet.stop();
    throw error;
  }
}

/** @throws Error if a contract is gone: the node's responses are no expected values then */
export async function requireCode({ url }: Devnet, contracts: Readonly<Record<string, Address>>): Promise<void> {
  const standing = Object.entries(contracts);
  const codes = await fetchTogether(
    url,
    standing.map(([, address]) => ({ method: 'eth_getCode', params: [address, 'latest'] })),
  );
  const gone = standing.flatMap(([name, address], place) =>
    codes[place] === '0x' ? [`${name} (${address})`] : [],
  );
  if (gone.length > 0) throw new Error(`The node has lost the code of ${gone.join(', ')}`);
}

/** Draws one of several, each as often as its weight. */
export function drawWeighted<T>(
  random: SeededRandom,
  choices: readonly (readonly [weight: number, choice: T])[],
): T {
  let left = random.next() * choices.reduce((sum, [weight]) => sum + weight, 0);
  for (const [weight, choice] of choices) {
    left -= weight;
    if (left < 0) return choice;
  }
  throw new RangeError('There is nothing to draw from');
}
