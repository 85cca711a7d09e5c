import type { Receipt } from '@chainstead/core';
import { encodeReceipt, headerHash, logsBloom, orderedTrieRoot } from '@chainstead/proof';
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { postJson, requestNode } from '../json-rpc/rpc-client.ts';
import { type JsonObject, logsOf } from '../nodes/chain-source.ts';
import type { ChainNode } from '../nodes/serve-chain.ts';
import { TRANSFER_TOPIC } from '../scripted/scripted-event.ts';
import { type BenchChain, createBenchChain } from './bench-chain.ts';
import { NFT_TOPICS } from './bench-nfts.ts';
import { serveBenchChain } from './bench-node.ts';

const hex = (number: number): string => `0x${number.toString(16)}`;
const OPTIONS = {
  blocks: 60,
  transactionsPerBlock: 5,
  logsPerTransaction: 3,
  transferShare: 0.6,
  emptyShare: 0.2,
};

let chain: BenchChain;
let node: ChainNode;

beforeAll(async () => {
  chain = createBenchChain(OPTIONS);
  node = await serveBenchChain(chain);
});
afterAll(() => node.close());
afterEach(() => node.faults.clear());

const ask = (method: string, ...params: unknown[]): Promise<unknown> => requestNode(node.url, method, params);
const allLogs = (from: number, to: number): JsonObject[] => [...chain.blocksIn({ from, to })].flatMap(logsOf);
const isTransfer = (log: JsonObject): boolean => (log.topics as string[])[0] === TRANSFER_TOPIC;

describe('createBenchChain', () => {
  it('commits in linked headers to what its blocks hold', () => {
    let parentHash: unknown = chain.blockAt(0)?.hash;
    for (const { header, hash, receipts } of chain.blocksIn({ from: 1, to: 60 })) {
      const parsed = receipts.map(
        (raw, index): Receipt => ({
          transactionHash: raw.transactionHash as Receipt['transactionHash'],
          transactionIndex: index,
          type: 2,
          cumulativeGasUsed: BigInt(String(raw.cumulativeGasUsed)),
          logs: raw.logs as Receipt['logs'],
          raw,
        }),
      );
      expect(headerHash(header)).toBe(hash);
      expect(header.parentHash).toBe(parentHash);
      expect(orderedTrieRoot(parsed.map((receipt) => encodeReceipt(receipt)))).toBe(header.receiptsRoot);
      expect(`0x${logsBloom(parsed.flatMap((one) => one.logs)).toString('hex')}`).toBe(header.logsBloom);
      parentHash = hash;
    }
  });

  it('counts what it holds and is as mixed as asked', () => {
    const logs = allLogs(0, 60);
    const erc20 = logs.filter((log) => isTransfer(log) && (log.topics as string[]).length === 3);
    expect(chain.facts).toMatchObject({
      head: 60,
      logs: logs.length,
      transferLogs: logs.filter(isTransfer).length,
      erc20Transfers: erc20.length,
    });
    expect(erc20.length / logs.length).toBeGreaterThan(0.5);
    expect(erc20.length / logs.length).toBeLessThan(0.7);
    const empty = [...chain.blocksIn({ from: 1, to: 60 })].filter((block) => block.transactions.length === 0);
    expect(empty.length).toBeGreaterThan(4);
    expect(empty.length).toBeLessThan(22);
  });
});

describe('serveBenchChain', () => {
  it('answers the ready texts as any node would answer', async () => {
    const block = chain.blockAt(7);
    const full = { ...block?.header, transactions: block?.transactions };
    expect(await ask('eth_getBlockByNumber', hex(7), true)).toEqual(full);
    expect(await ask('eth_getBlockByHash', block?.hash, false)).toEqual({
      ...full,
      transactions: block?.transactions.map((one) => one.hash),
    });
    expect(await ask('eth_getBlockReceipts', hex(7))).toEqual(block?.receipts);
    const [receipt] = block?.receipts ?? [];
    expect(await ask('eth_getTransactionReceipt', receipt?.transactionHash)).toEqual(receipt);
    expect(await ask('eth_getBlockByNumber', 'latest', false)).toMatchObject({ number: hex(60) });
    expect(await ask('eth_getBlockByNumber', hex(61), false)).toBeNull();
  });
});

describe('a chain with NFTs', () => {
  const trading = createBenchChain({
    ...{ blocks: 100, transactionsPerBlock: 10, logsPerTransaction: 3, nftShare: 0.5, transferShare: 1 },
  });
  const logs = [...trading.blocksIn({ from: 0, to: 100 })].flatMap(logsOf);
  const isNft = (log: JsonObject): boolean => !isTransfer(log) || (log.topics as string[]).length === 4;

  it('has about as many of their logs as asked for, of every kind, and counts them', () => {
    const nfts = logs.filter(isNft);
    expect(trading.facts).toMatchObject({
      logs: 3_000,
      nftLogs: nfts.length,
      erc20Transfers: 3_000 - nfts.length,
    });
    expect(nfts.length / logs.length).toBeGreaterThan(0.45);
    expect(nfts.length / logs.length).toBeLessThan(0.6);
    expect(new Set(nfts.map(({ topics }) => (topics as string[])[0]))).toEqual(new Set(NFT_TOPICS));
  });
});

describe('a chain with a factory', () => {
  const [transactionsPerBlock, logsPerTransaction, children] = [4, 3, 30];
  const made = createBenchChain({
    ...{ blocks: 40, transactionsPerBlock, logsPerTransaction, children, tokens: 10, transferShare: 1 },
  });
  const logs = [...made.blocksIn({ from: 0, to: 40 })].flatMap(logsOf);
  const [creations, events] = [logs.filter((log) => !isTransfer(log)), logs.filter(isTransfer)];
  const childOf = ({ topics }: JsonObject): string => `0x${(topics as string[])[1]?.slice(-40)}`;
  const createdIn = new Map(creations.map((log) => [childOf(log), Number(log.blockNumber)]));

  it('creates each child once, and lets it emit logs from the next block on', () => {
    expect(creations).toHaveLength(children);
    expect(createdIn.size).toBe(children);
    expect(new Set(creations.map(({ address }) => address))).toEqual(new Set([made.facts.factory]));
    expect(creations.map(({ data }) => Number(data))).toEqual(creations.map((_, index) => index));
    expect(Math.max(...createdIn.values())).toBe(20);
    expect(logs).toHaveLength(40 * transactionsPerBlock * logsPerTransaction);
    const ofChildren = events.filter(({ address }) => createdIn.has(String(address)));
    for (const { address, blockNumber } of ofChildren)
      expect(Number(blockNumber)).toBeGreaterThan(createdIn.get(String(address)) ?? 40);
    expect(ofChildren.length / events.length).toBeGreaterThan(0.6);
    expect(new Set(events.map(({ address }) => address)).size).toBeGreaterThan(30);
    expect(
      events.every(
        ({ address }) =>
          createdIn.has(String(address)) || made.facts.tokens.map(String).includes(String(address)),
      ),
    ).toBe(true);
  });

  it.each<[string, (address: string) => boolean, string[] | null]>([
    ['the factory', (address) => address === made.facts.factory, null],
    ['its children and their event', (address) => createdIn.has(address), [TRANSFER_TOPIC]],
    ['every other token', (address) => made.facts.tokens.map(String).indexOf(address) % 2 === 0, null],
    ['all emitters', () => true, [TRANSFER_TOPIC]],
  ])('is served by the addresses of %s as any node would serve it', async (_, isWanted, topics) => {
    const server = await serveBenchChain(made);
    onTestFinished(() => server.close());
    const addresses = [...made.emitters].filter(isWanted);
    const ofTopics = (log: JsonObject): boolean => topics === null || isTransfer(log);
    const wanted = logs.filter((log) => isWanted(String(log.address)) && ofTopics(log));
    const within = { fromBlock: '0x3', toBlock: '0x20', address: addresses, ...(topics && { topics: [topics] }) };
    const inRange = wanted.filter(({ blockNumber: at }) => Number(at) >= 3 && Number(at) <= 32);
    expect(inRange.length).toBeGreaterThan(20);
    expect(await requestNode(server.url, 'eth_getLogs', [within])).toEqual(inRange);
    server.faults.set({ dropLogsRate: 1e-12 });
    expect(await requestNode(server.url, 'eth_getLogs', [within])).toEqual(inRange);
    server.faults.set({ dropLogsRate: 0, logLimit: { style: 'infura', maxResults: 15 } });
    const answer = (await postJson(server.url, { id: 1, method: 'eth_getLogs', params: [within] })) as {
      error: { message: string };
    };
    const to = Number(/\[0x3, (0x[0-9a-f]+)\]/.exec(answer.error.message)?.[1]);
    expect(inRange.filter(({ blockNumber }) => Number(blockNumber) <= to).length).toBeLessThanOrEqual(15);
    expect(inRange.filter(({ blockNumber }) => Number(blockNumber) <= to + 1).length).toBeGreaterThan(15);
  });
});
