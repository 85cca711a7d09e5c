import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { stageOfFile } from '../hooks.ts';
import { requestNode } from '../json-rpc/rpc-client.ts';
import type { JsonObject } from '../nodes/chain-source.ts';
import { loadRecordedChain, serveRecordedChain } from './recorded-chain-node.ts';
import { recordedData } from './recorded-data.ts';

const { folder, isMissing, title } = recordedData('data/evm');

const FIRST = 35_779_967;
const LAST = 35_780_032;
const hex = (number: number): string => `0x${number.toString(16)}`;

describe.skipIf(isMissing)(title('serveRecordedChain'), () => {
  const node = stageOfFile(() =>
    serveRecordedChain({ folder: folder, chain: 'polygon', blocks: { from: FIRST, to: LAST } }),
  );
  const ask = (method: string, ...params: unknown[]): Promise<unknown> => requestNode(node.url, method, params);
  const block = async (at: string): Promise<JsonObject> =>
    (await ask('eth_getBlockByNumber', at, false)) as JsonObject;

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
});
