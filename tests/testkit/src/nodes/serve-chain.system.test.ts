import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { FaultSettings } from '../json-rpc/faults.ts';
import type { LogLimit } from '../json-rpc/log-limits.ts';
import { postJson, requestNode } from '../json-rpc/rpc-client.ts';
import { createScriptedChain, type ScriptedChain, serveScriptedChain } from '../scripted/scripted-chain.ts';
import { TRANSFER_TOPIC } from '../scripted/scripted-event.ts';
import { type JsonObject, logsOf } from './chain-source.ts';
import type { ChainNode } from './serve-chain.ts';

const hex = (number: number): string => `0x${number.toString(16)}`;

let chain: ScriptedChain;
let node: ChainNode;

beforeEach(async () => {
  chain = createScriptedChain({ seed: 1, chainId: 777, finalityDepth: 20 });
  chain.mine(100);
  node = await serveScriptedChain(chain, { seed: 5 });
});
afterEach(() => node.close());

const set = (faults: Partial<FaultSettings>): void => node.faults.set(faults);
const ask = (method: string, ...params: unknown[]): Promise<unknown> => requestNode(node.url, method, params);
const errorOf = async (method: string, ...params: unknown[]): Promise<unknown> =>
  ((await postJson(node.url, { jsonrpc: '2.0', id: 1, method, params })) as JsonObject).error;
const logs = (from: number, to: number, more: object = {}): Promise<JsonObject[]> =>
  ask('eth_getLogs', { fromBlock: hex(from), toBlock: hex(to), ...more }) as Promise<JsonObject[]>;
const block = (at: unknown): Promise<JsonObject | null> =>
  ask('eth_getBlockByNumber', at, false) as Promise<JsonObject | null>;
const truth = (from: number, to: number): JsonObject[] => chain.blocksIn({ from, to }).flatMap(logsOf);

describe('a node without faults', () => {
  it('serves head, tags, blocks, receipts and logs of the chain as it is now', async () => {
    expect(await ask('eth_chainId')).toBe('0x309');
    expect(await ask('eth_blockNumber')).toBe(hex(100));
    expect((await block('finalized'))?.number).toBe(hex(80));
    expect(await logs(0, 100)).toEqual(truth(0, 100));
    expect(await ask('eth_getBlockReceipts', hex(50))).toEqual(chain.blockAt(50)?.receipts);
    chain.reorg(3, 5);
    expect((await block('latest'))?.hash).toBe(chain.blockAt(102)?.hash);
    expect(await logs(0, 102)).toEqual(truth(0, 102));
  });

  it('still knows orphaned blocks by hash, not by number or transaction', async () => {
    const { orphaned } = chain.reorg(2);
    const [old] = orphaned;
    expect(await ask('eth_getBlockByHash', old?.hash, false)).toMatchObject({ hash: old?.hash });
    expect(await ask('eth_getLogs', { blockHash: old?.hash })).toEqual(old === undefined ? null : logsOf(old));
    expect((await block(hex(99)))?.hash).not.toBe(old?.hash);
  });

  it('matches topics by position', async () => {
    const transfers = truth(0, 100).filter((log) => (log.topics as string[])[0] === TRANSFER_TOPIC);
    const to = (transfers[0]?.topics as string[] | undefined)?.[2];
    expect(await logs(0, 100, { topics: [TRANSFER_TOPIC, null, [to]] })).toEqual(
      transfers.filter((log) => (log.topics as string[])[2] === to),
    );
    expect(await logs(0, 100, { topics: [TRANSFER_TOPIC, null, null, null] })).toEqual(
      transfers.filter((log) => (log.topics as string[]).length === 4),
    );
  });
});

describe('faults of what a node knows', () => {
  it('lags: head, blocks, receipts and logs end early', async () => {
    set({ lagBlocks: 10, beyondHead: 'empty' });
    expect(await ask('eth_blockNumber')).toBe(hex(90));
    expect(await block(hex(91))).toBeNull();
    expect(await ask('eth_getBlockReceipts', chain.blockAt(91)?.hash)).toBeNull();
    expect(await logs(85, 100)).toEqual(truth(85, 90));
    expect(await logs(95, 100)).toEqual([]);
  });

  it('refuses ranges beyond its head as geth does', async () => {
    expect(await errorOf('eth_getLogs', { fromBlock: hex(90), toBlock: hex(101) })).toEqual({
      code: -32602,
      message: 'block range extends beyond current head block',
    });
    expect(await ask('eth_getLogs', { fromBlock: hex(90), toBlock: 'latest' })).toEqual(truth(90, 100));
  });

  it('lies about its head and has nothing there', async () => {
    set({ headLieBlocks: 7 });
    expect(await ask('eth_blockNumber')).toBe(hex(107));
    const invented = await block('latest');
    expect(invented?.number).toBe(hex(107));
    expect(await ask('eth_getBlockByHash', invented?.hash, false)).toBeNull();
    expect(await block(hex(101))).toBeNull();
    expect(await block(hex(100))).toMatchObject({ hash: chain.blockAt(100)?.hash });
  });

  it('answers null for the head that it announces', async () => {
    set({ nullForHead: true });
    expect((await block('latest'))?.number).toBe(hex(100));
    expect(await block(hex(100))).toBeNull();
    expect(await ask('eth_getBlockReceipts', hex(100))).toBeNull();
    expect(await block(hex(99))).not.toBeNull();
  });

  it('has pruned its history, silently or with error 4444', async () => {
    set({ prunedBelow: { block: 50, style: 'empty' } });
    expect(await logs(40, 60)).toEqual(truth(50, 60));
    expect(await ask('eth_getBlockReceipts', hex(49))).toBeNull();
    expect(await block(hex(49))).not.toBeNull();
    set({ prunedBelow: { block: 50, style: 'error' } });
    const refused = { code: 4444, message: 'pruned history unavailable: requested 40, earliest available 50' };
    expect(await errorOf('eth_getLogs', { fromBlock: hex(40), toBlock: hex(60) })).toEqual(refused);
    expect(await errorOf('eth_getBlockReceipts', hex(49))).toMatchObject({ code: 4444 });
    expect(await errorOf('eth_getBlockByNumber', hex(49), false)).toMatchObject({ code: 4444 });
  });
});

describe('a node that loses logs', () => {
  it('loses always the same share of eth_getLogs, whatever the range, and none of the receipts', async () => {
    set({ dropLogsRate: 0.1 });
    const whole = await logs(0, 100);
    const all = truth(0, 100);
    expect(whole.length).toBeLessThan(all.length * 0.95);
    expect(whole.length).toBeGreaterThan(all.length * 0.85);
    const halves = [...(await logs(0, 50)), ...(await logs(51, 100))];
    expect(halves).toEqual(whole);
    expect(node.faults.injected.droppedLog).toBe(2 * (all.length - whole.length));
    expect(await ask('eth_getBlockReceipts', hex(50))).toEqual(chain.blockAt(50)?.receipts);
  });

  it('loses logs of receipts separately', async () => {
    set({ dropReceiptLogsRate: 0.5 });
    const receipts = (await Promise.all(
      Array.from({ length: 100 }, (_, number) => ask('eth_getBlockReceipts', hex(number + 1))),
    )) as JsonObject[][];
    const left = receipts.flat().flatMap((receipt) => receipt.logs as JsonObject[]);
    expect(left.length).toBeLessThan(truth(1, 100).length * 0.7);
    expect(node.faults.injected.droppedReceiptLog).toBe(truth(1, 100).length - left.length);
    expect(await logs(1, 100)).toEqual(truth(1, 100));
  });
});

describe('limits of eth_getLogs', () => {
  const limited = (logLimit: LogLimit, from: number, to: number): Promise<unknown> => {
    set({ logLimit });
    return errorOf('eth_getLogs', { fromBlock: hex(from), toBlock: hex(to) });
  };

  it('answers up to the limit and refuses above it', async () => {
    set({ logLimit: { style: 'infura', maxRange: 10 } });
    expect(await logs(11, 20)).toEqual(truth(11, 20));
    expect(await limited({ style: 'infura', maxRange: 10 }, 11, 21)).toEqual({
      code: -32602,
      message: 'range 11 exceeds limit of 10',
    });
  });

  it('suggests the longest range that it would answer', async () => {
    const error = (await limited({ style: 'infura', maxResults: 200 }, 1, 100)) as JsonObject;
    const suggested =
      /^query returned more than 200 results\. Try with this block range \[0x1, (0x[0-9a-f]+)\]\.$/.exec(
        String(error.message),
      );
    const to = Number(suggested?.[1]);
    expect(await logs(1, to)).toEqual(truth(1, to));
    expect(truth(1, to).length).toBeLessThanOrEqual(200);
    expect(truth(1, to + 1).length).toBeGreaterThan(200);
  });
});
