import { hashOf } from '@chainstead/testkit';
import { expect, test } from 'vitest';
import { Branch } from './chain-feed.ts';
import type { FeedBlock } from './feed-block.ts';

/** @param kind the branch; the parent is on branch `of` */
function blockOf(kind: number, number: number, of = kind): FeedBlock {
  const [hash, parentHash] = [hashOf(kind, number), hashOf(of, number - 1)];
  return { number, hash, parentHash, timestamp: number, logsBloom: null, headText: '{}', logs: null, bytes: 2 };
}

const branchOf = (...blocks: readonly FeedBlock[]): Branch => {
  const branch = new Branch(10, 1_000);
  for (const block of blocks) branch.push(block);
  return branch;
};

const [TEN, ELEVEN, TWELVE] = [blockOf(1, 10), blockOf(1, 11), blockOf(1, 12)];
const unread = () => Promise.reject(new Error('No parent has to be read'));

test('a head that returns to a known block abandons the blocks above it, and not the block itself', async () => {
  const branch = branchOf(TEN, ELEVEN, TWELVE);
  expect(await branch.pathTo(ELEVEN, unread)).toEqual({ removed: [TWELVE], added: [] });
  expect(await branch.pathTo(TWELVE, unread)).toEqual({ removed: [], added: [] });
});

test('a head of another branch abandons the blocks above the fork, newest first', async () => {
  const [eleven, twelve] = [blockOf(2, 11, 1), blockOf(2, 12)];
  const path = await branchOf(TEN, ELEVEN, TWELVE).pathTo(twelve, async () => eleven);
  expect(path).toEqual({ removed: [TWELVE, ELEVEN], added: [eleven, twelve] });
});
