import { createSeededRandom } from '@chainstead/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { reorganise } from '../story/branches.ts';
import { encodeCall } from '../story/node.ts';
import { STORY_CHAINS } from '../story/story-chain.ts';
import { readBalance } from './truth.ts';
import { type AssetsWorld, requireContracts, startWorld } from './world.ts';

/** From there on the node would keep a few states in memory alone. */
const LONG = 1_100;
const DEPTH = 26;

let world: AssetsWorld;

beforeAll(async () => {
  const [chain] = STORY_CHAINS;
  if (chain === undefined) throw new Error('There is no chain for a story');
  world = await startWorld(chain, createSeededRandom('a long story'));
});
afterAll(() => world?.devnet.stop());

test('contracts keep what they say through a reorganisation of a long chain', async () => {
  const { devnet, tokens, accounts } = world;
  const [from, to] = accounts;
  if (from === undefined || to === undefined) throw new Error('The world has no accounts');
  const data = encodeCall('mint(address,uint256)', [to, 7n]);
  await devnet.client.sendTransaction({ account: from, to: tokens.plain, data, chain: null });
  await devnet.mine(LONG);
  const head = Number(await devnet.client.getBlockNumber({ cacheTime: 0 }));
  expect(await readBalance(world, tokens.plain, to, head)).toBe(7n);
  await reorganise(world, DEPTH);
  expect(await readBalance(world, tokens.plain, to, head)).toBe(7n);
}, 60_000);

test('a node that has lost a contract is no truth', async () => {
  await requireContracts(world);
  await world.devnet.client.setCode({ address: world.tokens.fee, bytecode: '0x' });
  await expect(requireContracts(world)).rejects.toThrow(`fee (${world.tokens.fee})`);
}, 60_000);
