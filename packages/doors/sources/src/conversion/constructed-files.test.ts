import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import {
  checkTransactionHash,
  checkWithdrawals,
  contradictsSenders,
  proveBlock,
  proveTransactions,
} from '@chainstead/proof';
import { exampleChain, recordedData } from '@chainstead/testkit';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { SourceBlock } from '../block-source.ts';
import { openPortalSource } from '../portal/open-portal-source.ts';
import { readBlocks } from '../testing/read-all.ts';
import type { Json } from './forms.ts';
import { receiptJson, transactionJson } from './receipt-json.ts';
import { checkedHeader, headerJson } from './source-block.ts';

const { folder, isMissing, title } = recordedData('data/proofs/sources');
const CHAIN = exampleChain();

/** Serves one file as the response to every query. */
async function serve(file: string): Promise<string> {
  const bytes = readFileSync(join(folder, file));
  const server = createServer((request, response) => {
    request.resume();
    response.end(bytes);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function expectProven({ block, receipts }: SourceBlock): Promise<void> {
  const { header, transactions } = block;
  expect(proveBlock({ ...block, receipts }, CHAIN)).toEqual({ level: 'receipts', headerHash: 'verified' });
  const proof = proveTransactions({ header, transactions: transactions ?? [], receipts }, CHAIN);
  expect(proof).toEqual({ level: 'receipts' });
  expect(await contradictsSenders(transactions ?? [])).toBeNull();
  expect(checkWithdrawals(header.raw, transactions?.[0])).toBe('verified');
}

describe.skipIf(isMissing)(title('real blocks'), () => {
  test.each([
    ['portal-19426586-19426587.constructed.jsonl.gz', 19_426_586, 19_426_587],
    ['portal-22869878.constructed.jsonl.gz', 22_869_878, 22_869_878],
  ])('in the form of a Portal have all roots: %s', async (file, from, to) => {
    const source = openPortalSource({ url: await serve(file), chain: CHAIN });
    onTestFinished(() => source.close());
    const blocks = await readBlocks(source, { from, to });
    expect(blocks.map(({ block }) => block.header.number).at(-1)).toBe(to);
    expect(blocks.flatMap(({ lacks }) => lacks)).toEqual([]);
    for (const block of blocks) await expectProven(block);
  });

  test('of a Portal, recorded, have their hashes, and prices by EIP-1559', () => {
    const lines = readFileSync(join(folder, 'portal-ponder-receipts.json'), 'utf8').trim().split('\n');
    const [mainnet, base] = lines.map((line) => JSON.parse(line));
    const transactions = mainnet.transactions.map((row: Json) => transactionJson(row, {}));
    expect(transactions.length).toBeGreaterThan(0);
    for (const { json, lack } of transactions) {
      expect(lack).toBeNull();
      expect(checkTransactionHash(json)).toMatchObject({ result: 'verified' });
    }
    const [deposit] = base.transactions;
    const { json, type } = transactionJson(deposit, {});
    const rows = { row: deposit, transaction: json, type, logs: [], gasBefore: 0n, hasEthereumPrices: true };
    expect(receiptJson(rows, {}, {}).json).toMatchObject({
      status: '0x1',
      type: '0x7e',
      l1Fee: '0x0',
      l1BlobBaseFeeScalar: '0x101c12',
    });
  });

  test('without requests have a header hash even where the source has no requestsHash', () => {
    const bytes = readFileSync(join(folder, 'portal-22869878.constructed.jsonl.gz'));
    const { header: row } = JSON.parse(gunzipSync(bytes).toString('utf8').split('\n')[0] ?? '');
    const { requestsHash, ...without } = row;
    const absent = new Set(['requestsHash']);
    const given = headerJson(row);
    expect(checkedHeader(headerJson(without), CHAIN, absent)).toEqual({ header: given, lack: null });
    expect(given.requestsHash).toBe(requestsHash);
    const other = headerJson({ ...without, miner: `0x${'ab'.repeat(20)}` });
    expect(checkedHeader(other, CHAIN, absent).lack).toBe('requestsHash');
    expect(checkedHeader(other, CHAIN, new Set()).lack).toBeNull();
  });
});
