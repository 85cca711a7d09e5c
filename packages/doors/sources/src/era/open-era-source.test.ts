import { copyFileSync, readFileSync } from 'node:fs';
import { symlink } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { type ChainId, type Hash, parseHash } from '@chainstead/core';
import { checkHeaderHash, checkWithdrawals, proveBlock, proveTransactions } from '@chainstead/proof';
import { createScriptedChain, writeEraFolder } from '@chainstead/testkit';
import { describe, expect, test } from 'vitest';
import type { SourceBlock } from '../block-source.ts';
import { openEraSource } from './open-era-source.ts';
import {
  ERE_FILE,
  emptyFolder,
  faultOf,
  folderOf,
  mainnet,
  PROOFS,
  readAll,
  readPages,
  SEPOLIA_FILE,
  sepolia,
  summariesFile,
} from './testing/era-files.ts';

const signal = new AbortController().signal;
const facts: readonly Record<string, unknown>[] = PROOFS.isMissing
  ? []
  : JSON.parse(readFileSync(join(PROOFS.folder, 'blocks/index.json'), 'utf8'));

function expectProven({ block, receipts, lacks }: SourceBlock, chain = mainnet): void {
  const { header, transactionHashes, transactions } = block;
  expect(lacks).toEqual([]);
  expect(proveBlock({ header, transactionHashes, receipts }, chain)).toEqual({
    ...{ level: 'receipts', headerHash: 'verified' },
  });
  expect(proveTransactions({ header, transactions: transactions ?? [], receipts }, chain)).toEqual({
    level: 'receipts',
  });
  expect(checkHeaderHash(header.raw, header.hash)).toEqual({ result: 'verified' });
  if (header.raw.withdrawalsRoot !== undefined)
    expect(checkWithdrawals(header.raw, transactions?.[0])).toBe('verified');
}

describe.skipIf(PROOFS.isMissing)(PROOFS.title('era files of real blocks'), () => {
  test.each([
    ['mainnet-01802-720704f3.ere', 14_764_013, [true]],
    ['mainnet-01802-e896b902.era1', 14_764_013, [false]],
    ['mainnet-01896-56a9bb03.ere', 15_537_393, [true, true]],
    [ERE_FILE, 19_426_586, [true, true]],
    ['mainnet-02371-f8e2f40d.e2hs', 19_426_586, [true, true]],
    ['mainnet-02371-f8e2f40d-noproofs.ere', 19_426_586, [false, false]],
  ])('%s has blocks whose roots match', async (name, from, canonical) => {
    const source = openEraSource({
      ...{ folder: await folderOf(name), chain: mainnet, summariesFile: await summariesFile() },
    });
    const range = { from, to: from + canonical.length - 1 };
    expect(await source.available(signal)).toEqual([range]);
    const blocks = await readAll(source, range);
    expect(blocks.map(({ isCanonical }) => isCanonical)).toEqual(canonical);
    for (const whole of blocks) {
      expectProven(whole);
      const { number, ...expected } = facts.find((fact) => fact.number === whole.block.header.number) ?? {};
      const { header, transactions } = whole.block;
      expect(number).toBe(header.number);
      expect(header).toMatchObject({ hash: expected.hash, parentHash: expected.parentHash });
      expect(header.timestamp).toBe(expected.timestamp);
      expect(whole.receipts.flatMap(({ logs }) => logs)).toHaveLength(Number(expected.logs));
      expect(transactions).toHaveLength(Number(expected.transactions));
      expect((header.raw.uncles as unknown[]).length).toBe(expected.uncles);
      // Before the merge, only the accumulator of a whole file proves it.
      expect(header.raw.totalDifficulty).toBe(header.number < 15_537_394 ? undefined : '0xc70d815d562d3cfa955');
    }
  });

  test('transactions that are not requested cost no senders, and leave receipts provable', async () => {
    const source = openEraSource({ folder: await folderOf(ERE_FILE), chain: mainnet });
    const [bare] = await readAll(source, { from: 19_426_586, to: 19_426_586 }, false);
    const [whole] = await readAll(source, { from: 19_426_586, to: 19_426_586 });
    expect(bare?.block.transactions).toBeNull();
    expect(bare?.block.transactionHashes).toEqual(whole?.block.transactionHashes);
    expect(bare?.receipts.map(({ logs }) => logs)).toEqual(whole?.receipts.map(({ logs }) => logs));
    const { header, transactionHashes } = bare?.block ?? whole?.block ?? {};
    if (header === undefined || transactionHashes === undefined) throw new RangeError('No block');
    expect(proveBlock({ header, transactionHashes, receipts: bare?.receipts ?? [] }, mainnet)).toMatchObject({
      ...{ level: 'receipts' },
    });
  });

  test('a file without receipts reports that they are missing', async () => {
    const source = openEraSource({
      ...{ folder: await folderOf('mainnet-02371-f8e2f40d-noproofs-noreceipts.ere'), chain: mainnet },
    });
    const blocks = await readAll(source, { from: 19_426_586, to: 19_426_587 });
    expect(blocks.map(({ lacks }) => lacks)).toEqual([
      [{ part: 'receipts', field: 'all' }],
      [{ part: 'receipts', field: 'all' }],
    ]);
    const query = { range: { from: 19_426_586, to: 19_426_587 }, topics: [] };
    expect(await faultOf(readPages(source, query))).toMatchObject({ fault: 'unavailable' });
  });

  test('8,192 blocks of Sepolia are proven and linked', async () => {
    const folder = await folderOf(SEPOLIA_FILE, 'sepolia-00000-deadbeef-noreceipts.ere');
    const source = openEraSource({ folder, chain: sepolia });
    expect(source.name).toBe(`era ${basename(folder)}`);
    expect(await source.available(signal)).toEqual([{ from: 172_032, to: 180_223 }]);
    const blocks = await readAll(source, { from: 172_032, to: 190_000 });
    expect(blocks).toHaveLength(8192);
    let parent: Hash | null = null;
    for (const { block, receipts, lacks } of blocks) {
      const { header, transactionHashes, transactions } = block;
      const proof = proveBlock({ header, transactionHashes, receipts }, sepolia);
      const inner = proveTransactions({ header, transactions: transactions ?? [], receipts }, sepolia);
      const isLinked = parent === null || header.parentHash === parent;
      if (!isLinked || lacks.length > 0 || proof.level !== 'receipts' || inner.level !== 'receipts')
        expect.fail(`block ${header.number}: ${proof.level}, ${inner.level}`);
      parent = header.hash;
    }
    expect(blocks.flatMap(({ block }) => block.transactionHashes)).toHaveLength(93);
    expect(blocks.some(({ isCanonical }) => isCanonical)).toBe(false);
  });

  test('of files with the same blocks, one with proofs is read; files added later are seen', async () => {
    const folder = await folderOf('mainnet-02371-f8e2f40d-noproofs-noreceipts.ere');
    const source = openEraSource({ folder, chain: mainnet, summariesFile: await summariesFile() });
    const range = { from: 19_426_586, to: 19_426_587 };
    expect((await readAll(source, range))[1]).toMatchObject({ isCanonical: false, receipts: [] });
    expect(await faultOf(readAll(source, { from: 14_764_013, to: 14_764_013 }))).toMatchObject({
      ...{ fault: 'unavailable', what: 'no file has block 14764013' },
    });
    for (const name of [ERE_FILE, 'mainnet-01802-720704f3.ere'])
      copyFileSync(join(PROOFS.folder, 'files', name), join(folder, name));
    expect(await source.available(signal)).toEqual([
      { from: 14_764_013, to: 14_764_013 },
      { from: 19_426_586, to: 19_426_587 },
    ]);
    expect((await readAll(source, range))[1]).toMatchObject({ isCanonical: true, lacks: [] });
    // Ends at the hole.
    expect(await readAll(source, { from: 14_764_013, to: 19_426_587 })).toHaveLength(1);
  });

  test('logs are those of the receipts that match, with the last block of the page', async () => {
    const source = openEraSource({ folder: await folderOf(ERE_FILE), chain: mainnet });
    const range = { from: 19_426_586, to: 19_426_587 };
    const blocks = await readAll(source, range);
    const all = blocks.flatMap(({ receipts }) => receipts.flatMap(({ logs }) => logs));
    const { hash, timestamp } = blocks[1]?.block.header ?? {};
    const last = { number: 19_426_587, hash, timestamp };
    expect(await readPages(source, { range, topics: [] })).toEqual([{ range, logs: all, last }]);
    const transfer = parseHash('0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef');
    const nfts = all.filter(({ topics }) => topics[0] === transfer && topics.length === 4);
    expect(nfts.length).toBeGreaterThan(0);
    const query = { range, topics: [transfer], indexed: [null, null, null] };
    expect((await readPages(source, query))[0]?.logs.map(({ topics }) => topics.length)).toEqual(
      nfts.map(() => 4),
    );
    const addresses = [all[0]?.address.toUpperCase().replace('0X', '0x') ?? ''];
    expect((await readPages(source, { range, topics: [], addresses }))[0]?.logs).toEqual(
      all.filter(({ address }) => address === all[0]?.address),
    );
    const nowhere = { range, topics: [parseHash(`0x${'12'.repeat(32)}`)] };
    expect(await readPages(source, nowhere)).toEqual([{ range, logs: [], last }]);
  });

  test('pages of empty blocks lie end to end', async () => {
    const source = openEraSource({ folder: await folderOf(SEPOLIA_FILE), chain: sepolia });
    const pages = await readPages(source, { range: { from: 172_100, to: 175_000 }, topics: [] });
    expect(pages.map(({ range }) => range)).toEqual([
      { from: 172_100, to: 173_099 },
      { from: 173_100, to: 174_099 },
      { from: 174_100, to: 175_000 },
    ]);
  });
});

test('an empty folder has no blocks, one that is missing is unavailable', async () => {
  const folder = await emptyFolder();
  expect(await openEraSource({ folder, chain: mainnet }).available(signal)).toEqual([]);
  const missing = openEraSource({ folder: join(folder, 'missing'), chain: mainnet });
  expect(await faultOf(missing.available(signal))).toMatchObject({ fault: 'unavailable', source: 'era missing' });
});

test('a file that can not be read does not stop the others, and is named until it can be', async () => {
  const folder = await emptyFolder();
  const chain = createScriptedChain({ seed: 3, chainId: 31_337 });
  chain.mine(5);
  const range = { from: 0, to: 5 };
  await writeEraFolder({ folder, network: 'devnet', blocks: chain.blocksIn(range) });
  const target = join(folder, 'target');
  await symlink(target, join(folder, 'devnet-00000-00000000.ere'));
  const reasons: string[] = [];
  const source = openEraSource({
    ...{ folder, chain: { id: 31_337 as ChainId, key: 'devnet' } },
    onRefusal: (reason) => void reasons.push(reason),
  });
  expect(await source.available(signal)).toEqual([range]);
  expect(await readAll(source, range, false)).toHaveLength(6);
  const reason = "devnet-00000-00000000.ere: it can't be read (ENOENT)";
  await source.available(signal);
  expect([reasons, source.refusals?.()]).toEqual([[reason], [{ file: 'devnet-00000-00000000.ere', reason }]]);
  const before = source.revision?.();
  const [path = ''] = await writeEraFolder({
    ...{ folder: join(folder, 'other'), network: 'devnet', blocks: chain.blocksIn(range) },
  });
  copyFileSync(path, target);
  await source.available(signal);
  expect(source.refusals?.()).toEqual([]);
  expect(source.revision?.()).not.toBe(before);
});
