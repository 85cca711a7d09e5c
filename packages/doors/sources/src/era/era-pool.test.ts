import { copyFile, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Clock, createMetricsRegistry, silentLogger } from '@chainstead/core';
import { isNodeless } from '@chainstead/rpc';
import { createUpstreamPool } from '@chainstead/rpc/pool';
import { describe, expect, test } from 'vitest';
import { RECORD_TYPES } from './era-damage.ts';
import { createEraPool } from './era-pool.ts';
import { openEraSource } from './open-era-source.ts';
import { editRecords } from './testing/edit-records.ts';
import { folderOf, mainnet, PROOFS, summariesFile } from './testing/era-files.ts';

const MERGE_FILE = 'mainnet-01896-56a9bb03.ere';
const LONDON_FILE = 'mainnet-01802-720704f3.ere';
/** Their proofs need a list that grows with the chain. */
const CAPELLA_FILE = 'mainnet-02371-f8e2f40d.ere';
const { signal } = new AbortController();

async function openStage(...files: string[]) {
  const folder = await folderOf(...files);
  let now = 0;
  const clock: Clock = {
    now: () => now,
    async sleep(ms) {
      now += ms;
    },
  };
  const chain = mainnet;
  const nodeless = createUpstreamPool({
    ...{ chain, upstreams: [], logger: silentLogger(), metrics: createMetricsRegistry(), clock },
  });
  const pool = createEraPool({
    chain,
    clock,
    sources: [openEraSource({ folder, chain, isAlone: true })],
    nodeless,
  });
  return { folder, pool, pass: clock.sleep };
}

describe.skipIf(PROOFS.isMissing)(PROOFS.title('the pool of a chain without nodes'), () => {
  test('its head is the last block that a public list contains, and is final', async () => {
    const { pool } = await openStage(LONDON_FILE, MERGE_FILE, CAPELLA_FILE);
    await pool.start();
    expect((await pool.getHead()).value.number).toBe(15_537_394);
    expect(await pool.getFinalized()).toBe(15_537_394);
    expect(await pool.getBlock(19_426_586)).toBeNull();
    const [header] = await pool.getHeaders([14_764_013]);
    expect(header?.value.number).toBe(14_764_013);
    const whole = await pool.getWholeBlock(15_537_394, { transactions: true });
    expect(whole?.value.receipts).toHaveLength(whole?.value.block.transactions?.length ?? -1);
    expect(await pool.getBlock(whole?.value.block.header.hash ?? 0)).toMatchObject({
      value: { header: { number: 15_537_394 } },
    });
    await expect(pool.getBlock(15_000_000)).rejects.toMatchObject({
      code: 'FILES_LACK_BLOCKS',
      facts: { what: 'no file that can be proven has block 15000000' },
    });
  });

  test('a list of a beacon node in the folder proves later blocks', async () => {
    const { folder, pool } = await openStage(CAPELLA_FILE);
    await copyFile(await summariesFile(), join(folder, 'historical-summaries.ssz'));
    expect((await pool.getHead()).value.number).toBe(19_426_587);
  });

  test('the head follows files that are added, and stays before a damaged one', async () => {
    const { folder, pool, pass } = await openStage(LONDON_FILE);
    const { value: before } = await pool.waitForHead(null, signal);
    expect(before.number).toBe(14_764_013);
    await copyFile(join(PROOFS.folder, 'files', MERGE_FILE), join(folder, MERGE_FILE));
    expect((await pool.waitForHead(before, signal)).value.number).toBe(15_537_394);
    await writeFile(join(folder, 'mainnet-01897-00000000.ere'), 'damaged');
    await pass(60_000, signal);
    expect((await pool.getHead()).value.number).toBe(15_537_394);
  });

  test('logs are those of the files', async () => {
    const { pool } = await openStage(MERGE_FILE);
    const query = { range: { from: 15_537_393, to: 15_537_394 }, topics: [] };
    const { logs } = await pool.getLogs(query);
    const whole = await Promise.all([15_537_393, 15_537_394].map((number) => pool.getWholeBlock(number)));
    expect(logs).toHaveLength(
      whole.flatMap((block) => block?.value.receipts.flatMap((receipt) => receipt.logs) ?? []).length,
    );
    await expect(pool.getLogs(query, { bytesMax: 10_000 })).rejects.toMatchObject({ code: 'RANGE_TOO_LARGE' });
  });

  test.each(['mainnet-02371-f8e2f40d-noproofs.ere', CAPELLA_FILE])(
    'blocks of %s that no public list contains are not served, nor their logs',
    async (file) => {
      const { pool } = await openStage(file, MERGE_FILE);
      expect((await pool.getHead()).value.number).toBe(15_537_394);
      const query = { range: { from: 15_537_393, to: 19_426_586 }, topics: [] };
      await expect(pool.getLogs(query)).rejects.toMatchObject({ code: 'FILES_LACK_BLOCKS' });
    },
  );

  test('a file without proofs below the head is no part of the history', async () => {
    const { folder, pool } = await openStage('mainnet-02371-f8e2f40d-noproofs.ere');
    const source = openEraSource({ folder, chain: mainnet, isAlone: true });
    expect(await source.available(signal)).toEqual([]);
    expect(await openEraSource({ folder, chain: mainnet }).available(signal)).toHaveLength(1);
    await expect(pool.start()).rejects.toMatchObject({ code: 'NO_PROVEN_BLOCK' });
  });

  test('receipts that the header does not commit to are damage, for blocks and logs', async () => {
    const { folder, pool } = await openStage(LONDON_FILE);
    const file = await readFile(join(PROOFS.folder, 'files', MERGE_FILE));
    const forged = editRecords(file, (records) => {
      const receipts = records.find(({ type }) => type === RECORD_TYPES.slimReceipts);
      if (receipts === undefined) throw new RangeError('The file has no receipts');
      // The last byte is data of a log.
      receipts.content = Buffer.concat([receipts.content.subarray(0, -1), Buffer.of(0x77)]);
    });
    await writeFile(join(folder, MERGE_FILE), forged);
    expect((await pool.getHead()).value.number).toBe(15_537_394);
    const what = 'the receipts of block 15537393 do not hold: root-mismatch';
    const wrong = { code: 'FILES_LACK_BLOCKS', facts: { what } };
    await expect(pool.getWholeBlock(15_537_393)).rejects.toMatchObject(wrong);
    const range = { from: 15_537_393, to: 15_537_394 };
    await expect(pool.getLogs({ range, topics: [] })).rejects.toMatchObject(wrong);
  });

  test('of two files of an era, the one whose receipts hold is served', async () => {
    const { folder, pool } = await openStage(MERGE_FILE);
    const file = await readFile(join(folder, MERGE_FILE));
    const forged = editRecords(file, (records) => {
      for (const receipts of records.filter(({ type }) => type === RECORD_TYPES.slimReceipts))
        receipts.content = Buffer.concat([receipts.content.subarray(0, -1), Buffer.of(0x77)]);
    });
    await writeFile(join(folder, 'mainnet-01896-00000000.ere'), forged);
    const range = { from: 15_537_393, to: 15_537_394 };
    expect((await pool.getHead()).value.number).toBe(15_537_394);
    expect((await pool.getLogs({ range, topics: [] })).logs).not.toEqual([]);
  });

  test('without a proven block it does not start, and calls that need a node name the reason', async () => {
    const { pool } = await openStage(CAPELLA_FILE);
    await expect(pool.start()).rejects.toMatchObject({
      code: 'NO_PROVEN_BLOCK',
      message: expect.stringContaining('no public list contains block 19426587'),
      remedy: expect.stringMatching(/HISTORY_ETH.*historical-summaries\.ssz/),
    });
    const call = await pool.request('eth_call', []).catch((error: unknown) => error);
    expect(isNodeless(call)).toBe(true);
  });

  test('an empty folder names the setting', async () => {
    const { pool } = await openStage();
    await expect(pool.start()).rejects.toMatchObject({
      code: 'NO_PROVEN_BLOCK',
      message: expect.stringContaining('HISTORY_ETH'),
    });
  });
});
