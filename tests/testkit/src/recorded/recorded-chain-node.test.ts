import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { stageOfFile } from '../hooks.ts';
import { postJson, requestNode } from '../json-rpc/rpc-client.ts';
import type { JsonObject } from '../nodes/chain-source.ts';
import { loadRecordedChain, serveRecordedChain } from './recorded-chain-node.ts';
import { recordedData } from './recorded-data.ts';

const { folder, isMissing, title } = recordedData('data/evm');

const FIRST = 35_779_967;
const LAST = 35_780_032;
const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
const hex = (number: number): string => `0x${number.toString(16)}`;

describe.skipIf(isMissing)(title('serveRecordedChain'), () => {
  const node = stageOfFile(() =>
    serveRecordedChain({ folder: folder, chain: 'polygon', blocks: { from: FIRST, to: LAST } }),
  );
  const ask = (method: string, ...params: unknown[]): Promise<unknown> => requestNode(node.url, method, params);
  const block = async (at: string): Promise<JsonObject> =>
    (await ask('eth_getBlockByNumber', at, false)) as JsonObject;

  it('says its chain id and head', async () => {
    expect(await ask('eth_chainId')).toBe('0x89');
    expect(await ask('net_version')).toBe('137');
    expect(await ask('eth_blockNumber')).toBe(hex(LAST));
    expect(await ask('web3_clientVersion')).toContain('recorded-chain');
  });

  it('serves the run as blocks linked by parent hash', async () => {
    let parent = await block(hex(FIRST));
    for (let number = FIRST + 1; number <= LAST; number++) {
      const next = await block(hex(number));
      expect(next.parentHash).toBe(parent.hash);
      parent = next;
    }
    expect(await block('latest')).toEqual(parent);
    expect(await block('finalized')).toEqual(parent);
    expect((await block('earliest')).number).toBe(hex(FIRST));
    expect(await block(hex(LAST + 1))).toBeNull();
  });

  it('gives transactions as hashes or objects, the block by hash, receipts by block and one by one', async () => {
    const light = await block(hex(FIRST));
    const full = (await ask('eth_getBlockByHash', light.hash, true)) as JsonObject;
    const hashes = light.transactions as string[];
    expect((full.transactions as JsonObject[]).map((one) => one.hash)).toEqual(hashes);
    const receipts = (await ask('eth_getBlockReceipts', hex(FIRST))) as JsonObject[];
    expect(receipts.map((one) => one.transactionHash)).toEqual(hashes);
    expect(await ask('eth_getBlockReceipts', light.hash)).toEqual(receipts);
    expect(await ask('eth_getTransactionReceipt', hashes[3])).toEqual(receipts[3]);
    expect(await ask('eth_getTransactionByHash', hashes[3])).toEqual((full.transactions as JsonObject[])[3]);
  });

  it('reverts or answers nothing to eth_call and does not know other methods', async () => {
    const callOf = (to: string): Promise<unknown> =>
      postJson(node.url, {
        jsonrpc: '2.0',
        id: 1,
        method: 'eth_call',
        params: [{ to, data: '0x06fdde03' }, 'latest'],
      });
    expect(await callOf(`0x${'00'.repeat(19)}02`)).toMatchObject({ result: '0x' });
    expect(await callOf(`0x${'00'.repeat(19)}03`)).toMatchObject({ error: { code: 3 } });
    await expect(ask('debug_traceBlockByNumber', '0x1')).rejects.toThrow('-32601');
  });

  it('answers ranges over heights that were not recorded without counting through them', async () => {
    const sparse = await serveRecordedChain({ folder: folder, chain: 'ethereum' });
    const logs = await requestNode(sparse.url, 'eth_getLogs', [
      { fromBlock: '0x1', toBlock: 'latest', topics: [TRANSFER] },
    ]);
    await sparse.close();
    expect((logs as JsonObject[]).length).toBeGreaterThan(1_000);
  });

  it('loads every recorded chain', async () => {
    const ids: Record<string, number> = JSON.parse(await readFile(`${folder}/chain-ids.json`, 'utf8'));
    const last = Number.MAX_SAFE_INTEGER;
    let blocks = 0;
    for (const [chain, id] of Object.entries(ids)) {
      const source = await loadRecordedChain({ folder: folder, chain });
      const loaded = [...source.blocksIn({ from: 0, to: last })];
      blocks += loaded.length;
      expect(source.chainId).toBe(id);
      for (const { transactions, receipts } of loaded)
        expect(receipts.map((one) => one.transactionHash)).toEqual(transactions.map((one) => one.hash));
    }
    expect(blocks).toBe(119);
  });

  it('refuses chains and runs that were not recorded', async () => {
    await expect(loadRecordedChain({ folder: folder, chain: 'nope' })).rejects.toThrow('no chain nope');
    const nothing = { folder: folder, chain: 'polygon', blocks: { from: 1, to: 2 } };
    await expect(loadRecordedChain(nothing)).rejects.toThrow('No block of polygon is recorded in 1..2');
  });
});
