import { createLiveChain } from '@chainstead/testkit';
import { describe, expect, it } from 'vitest';
import { factsOf, type NodeLog } from './block-facts.ts';

const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
const SINGLE = '0xc3d58168c5ae7397731d063d5bbf3d657854427343f4c083240f7aacaa2d0f62';
const BATCH = '0x4a39dc06d4c0dbc64b70af90fd698a233a518aa5d07e595d983b8c0526c8f7fb';
const word = (value: number): string => value.toString(16).padStart(64, '0');
const log = (topics: readonly string[], ...words: number[]): NodeLog => ({
  address: '0x01',
  topics,
  data: `0x${words.map(word).join('')}`,
});

describe('factsOf', () => {
  it('counts transfers with their amounts, and each id of NFTs that move', () => {
    const facts = factsOf([
      log([TRANSFER, '0xa', '0xb'], 2 ** 33 + 5),
      log([TRANSFER, '0xa', '0xb', `0x${word(7)}`]),
      log([SINGLE, '0xa', '0xb', '0xc'], 9, 1),
      log([BATCH, '0xa', '0xb', '0xc'], 64, 160, 2, 100, 200, 2, 1, 1),
      log(['0x8c5be1e5ebec7d5bd14f71427d1e84f3dd0314c0f7b2291e5b200ac8c7c3b925', '0xa', '0xb'], 1),
    ]);
    expect(facts).toEqual({ transfers: 1, transferSum: 5, nftMoves: 4, nftSum: 316, sales: 0 });
  });

  it('finds every kind in the chain of the soak', () => {
    const chain = createLiveChain({
      chainId: 1,
      transactionsPerBlock: 50,
      logsPerTransaction: 2,
      nftShare: 0.4,
      transferShare: 0.9,
      keptBlocks: 10,
    });
    const blocks = Array.from({ length: 5 }, () => factsOf(chain.mine().logs.map(({ text }) => JSON.parse(text))));
    for (const kind of ['transfers', 'nftMoves', 'sales'] as const)
      expect(blocks.reduce((sum, facts) => sum + facts[kind], 0)).toBeGreaterThan(0);
  });
});
