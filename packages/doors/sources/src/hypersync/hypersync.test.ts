import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { parseHash } from '@chainstead/core';
import { proveBlock, proveTransactions } from '@chainstead/proof';
import {
  exampleChain,
  type JsonObject,
  recordedData,
  type SourceFaultSettings,
  serveHyperSync,
} from '@chainstead/testkit';
import { describe, expect, onTestFinished, test } from 'vitest';
import { faultOf, readBlocks, readLogs } from '../testing/read-all.ts';
import { CHAIN, poolOver, scriptedChain, sourceOver } from '../testing/source-stage.ts';
import { openHyperSyncSource } from './open-hypersync-source.ts';

const RANGE = { from: 100, to: 132 };
const NEVER = new AbortController().signal;

describe('blocks of a HyperSync', () => {
  test.each<[string, Partial<SourceFaultSettings>]>([
    ['in one page', {}],
    ['in short pages', { pageBlocks: 5 }],
    ['with nested lists', { nestedLists: true }],
    ['in parts after 413', { tooLargeBlocks: 6 }],
    ['after empty pages', { emptyRate: 1, times: 3 }],
  ])('are those of a node: %s', async (_, faults) => {
    const chain = scriptedChain();
    const pool = await poolOver(chain);
    const { source } = await sourceOver('hypersync', chain, faults);
    expect(await source.available(NEVER)).toEqual([{ from: 0, to: RANGE.to }]);
    const blocks = await readBlocks(source, RANGE);
    expect(blocks.length).toBe(33);
    for (const { block, receipts, lacks } of blocks) {
      const whole = await pool.getWholeBlock(block.header.number, { transactions: true });
      expect(block).toEqual(whole?.value.block);
      expect(receipts).toEqual(whole?.value.receipts);
      expect(lacks).toEqual([]);
      expect(proveBlock({ ...block, receipts }, CHAIN)).toEqual({ level: 'receipts', headerHash: 'verified' });
    }
  });

  test('end early where there are no more', async () => {
    const { source } = await sourceOver('hypersync', scriptedChain());
    expect((await readBlocks(source, { from: 130, to: 140 })).at(-1)?.block.header.number).toBe(RANGE.to);
    expect(await readBlocks(source, { from: 133, to: 140 })).toEqual([]);
  });

  test('that stay away below the height make the source busy', async () => {
    const { source, sleeps } = await sourceOver('hypersync', scriptedChain(), { servedTo: 110 });
    expect(await faultOf(readBlocks(source, { from: 105, to: 120 }))).toMatchObject({ fault: 'busy' });
    expect(sleeps).toEqual([1_000, 2_000, 4_000, 8_000]);
  });

  test.each<[string, (line: JsonObject) => JsonObject | null]>([
    ['missing', (line) => (headerOf(line).number === 110 ? null : line)],
    ['of another branch', (line) => withHeader(line, 110, { parent_hash: `0x${'ab'.repeat(32)}` })],
    ['beyond the page', (line) => withHeader(line, 110, { number: 900 })],
    ['with a number beyond 2^53', (line) => withHeader(line, 110, { timestamp: 2 ** 53 })],
    ['with half of a byte', (line) => withHeader(line, 110, { extra_data: '0x0' })],
  ])('are refused if one is %s', async (_, tamper) => {
    const { source } = await sourceOver('hypersync', scriptedChain(), { tamper });
    expect(await faultOf(readBlocks(source, RANGE))).toMatchObject({ fault: 'wrong' });
  });
});

describe('a HyperSync', () => {
  test('of another chain is refused before anything is read', async () => {
    const { source, server } = await sourceOver('hypersync', scriptedChain(), { wrongChainId: 5 });
    expect(await faultOf(source.available(NEVER))).toMatchObject({
      fault: 'refused',
      what: 'serves chain 5, not 31337',
    });
    expect(await faultOf(readBlocks(source, RANGE))).toMatchObject({ fault: 'refused' });
    expect(server.requests['POST /query']).toBeUndefined();
  });

  test('that refuses a token shows it in no error', async () => {
    const server = await serveHyperSync(scriptedChain(), { token: 'right-token-1' });
    const wrong = openHyperSyncSource({ url: server.url, chain: CHAIN, token: 'wrong-token-2' });
    const right = openHyperSyncSource({ url: server.url, chain: CHAIN, token: 'right-token-1' });
    onTestFinished(async () => {
      await Promise.all([wrong.close(), right.close()]);
      await server.close();
    });
    const fault = await faultOf(readBlocks(wrong, RANGE));
    expect(fault).toMatchObject({ fault: 'refused' });
    expect(fault.what).toContain('HTTP 401');
    expect(JSON.stringify(fault)).not.toContain('wrong-token');
    expect((await readBlocks(right, RANGE)).length).toBe(33);
  });

  test('answers filters as eth_getLogs does', async () => {
    const chain = scriptedChain();
    const pool = await poolOver(chain);
    const { source, server } = await sourceOver('hypersync', chain, { pageBlocks: 4 });
    const { logs: all } = await pool.getLogs({ range: RANGE, topics: [] });
    const [first] = all.filter(({ topics }) => topics.length > 2);
    const topic = (at: number) => [parseHash(first?.topics[at])];
    const queries = [
      { range: RANGE, topics: [] },
      { range: RANGE, topics: topic(0) },
      { range: { from: 103, to: 130 }, topics: topic(0), indexed: [null, topic(2)] },
      { range: RANGE, topics: [], indexed: [topic(1)] },
      { range: RANGE, topics: [], addresses: [String(first?.address).toUpperCase().replace('X', 'x')] },
      { range: RANGE, topics: [], indexed: [null] },
    ];
    for (const query of queries) {
      const { logs } = await pool.getLogs(query);
      expect(await readLogs(source, query)).toEqual({ logs, to: query.range.to });
    }
    const count = server.queries.length;
    expect(await readLogs(source, { range: RANGE, topics: [], indexed: [[]] })).toEqual({
      logs: [],
      to: RANGE.to,
    });
    expect(server.queries.length).toBe(count);
  });
});

const { folder, isMissing, title } = recordedData('data/proofs/sources');

describe.skipIf(isMissing)(title('real blocks in the form of a HyperSync'), () => {
  test('have all receipts, and lack access lists and withdrawals', async () => {
    const bytes = readFileSync(join(folder, 'hypersync-19426586-19426587.constructed.json.gz'));
    const server = createServer((request, response) => {
      request.resume();
      response.end(request.url === '/chain_id' ? '{"chain_id":1}' : bytes);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const chain = exampleChain();
    const source = openHyperSyncSource({ url, chain });
    onTestFinished(async () => {
      await source.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    });
    const blocks = await readBlocks(source, { from: 19_426_586, to: 19_426_587 });
    const withdrawals = { part: 'header', field: 'withdrawals' };
    const accessList = { part: 'transactions', field: expect.stringMatching(/^accessList of transaction \d+$/) };
    // All access lists of the second block are empty, which the hashes prove.
    expect(blocks.map(({ lacks }) => lacks)).toEqual([[withdrawals, accessList], [withdrawals]]);
    const levels = blocks.map(({ block, receipts }) => {
      expect(proveBlock({ ...block, receipts }, chain)).toEqual({ level: 'receipts', headerHash: 'verified' });
      const { header, transactions } = block;
      return proveTransactions({ header, transactions: transactions ?? [], receipts }, chain).level;
    });
    expect(levels).toEqual(['unproven', 'receipts']);
  });
});

function headerOf(line: JsonObject): JsonObject {
  return line.header as JsonObject;
}

function withHeader(line: JsonObject, number: number, change: JsonObject): JsonObject {
  return headerOf(line).number === number ? { ...line, header: { ...headerOf(line), ...change } } : line;
}
