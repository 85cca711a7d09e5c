import { afterEach, describe, expect, it } from 'vitest';
import { createLiveChain, type LiveChain, serveLiveChain } from './live-chain.ts';
import { askNode } from './rpc-client.ts';
import type { ChainNode } from './serve-chain.ts';

const OPTIONS = {
  chainId: 1,
  transactionsPerBlock: 4,
  logsPerTransaction: 2,
  nftShare: 0.3,
  transferShare: 0.9,
  keptBlocks: 20,
};
const hex = (number: number): string => `0x${number.toString(16)}`;

function chainOf(blocks: number): LiveChain {
  const chain = createLiveChain(OPTIONS);
  for (let made = 0; made < blocks; made++) chain.mine();
  return chain;
}

describe('createLiveChain', () => {
  let node: ChainNode | undefined;
  afterEach(() => node?.close());

  it('links its blocks, and is the same for the same seed and calls', () => {
    const [chain, same] = [chainOf(5), chainOf(5)];
    for (let number = 1; number <= 5; number++)
      expect(chain.blockAt(number)?.header.parentHash).toBe(chain.blockAt(number - 1)?.hash);
    expect(same.blockAt(5)?.hash).toBe(chain.blockAt(5)?.hash);
  });

  it('forgets what lies too far below the head', () => {
    const chain = chainOf(50);
    expect(chain.blockAt(30)).toBeUndefined();
    expect(chain.blockAt(31)?.number).toBe(31);
    expect(chain.finalized).toBe(0);
    expect(chainOf(80).finalized).toBe(16);
  });

  it('puts other blocks in the place of those that are dropped', () => {
    const chain = chainOf(10);
    const before = [8, 9].map((number) => chain.blockAt(number)?.hash);
    expect(chain.dropBlocks(2)).toBe(9);
    expect(chain.head).toBe(8);
    const { number, hash } = chain.mine();
    expect(number).toBe(9);
    expect(hash).not.toBe(before[1]);
    expect(chain.blockAt(9)?.header.parentHash).toBe(before[0]);
    expect(chain.blockByHash(before[1] ?? '')).toBeUndefined();
  });

  it('does not drop what is final or forgotten', () => {
    const chain = chainOf(70);
    expect(() => chain.dropBlocks(65)).toThrow('cannot be taken away');
    expect(() => chain.dropBlocks(30)).toThrow('cannot be taken away');
    expect(chain.head).toBe(70);
  });

  it('is served with the logs that it told of when it was made', async () => {
    const chain = chainOf(3);
    const { number, hash, logs } = chain.mine();
    node = await serveLiveChain(chain);
    const told = logs.map(({ text }) => JSON.parse(text));
    expect(await askNode(node.url, 'eth_getLogs', [{ fromBlock: hex(number), toBlock: hex(number) }])).toEqual(told);
    const receipts = (await askNode(node.url, 'eth_getBlockReceipts', [hex(number)])) as { logs: unknown[] }[];
    expect(receipts.flatMap((receipt) => receipt.logs)).toEqual(told);
    expect(await askNode(node.url, 'eth_getBlockByHash', [hash, false])).toMatchObject({ number: hex(number), hash });
    expect(await askNode(node.url, 'eth_getBlockByNumber', ['latest', true])).toMatchObject({ hash });
  });
});
