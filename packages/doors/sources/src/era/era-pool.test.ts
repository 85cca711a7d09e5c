import { copyFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Clock, createMetricsRegistry, silentLogger } from '@chainstead/core';
import { isNodeless, NoUpstreamError } from '@chainstead/rpc';
import { createUpstreamPool } from '@chainstead/rpc/pool';
import { describe, expect, test } from 'vitest';
import { createEraPool } from './era-pool.ts';
import { openEraSource } from './open-era-source.ts';
import { faultOf, folderOf, mainnet, PROOFS, summariesFile } from './testing/era-files.ts';

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
  const pool = createEraPool({ chain, clock, sources: [openEraSource({ folder, chain })], nodeless });
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
    expect(await faultOf(pool.getBlock(15_000_000))).toMatchObject({ what: 'no file has block 15000000' });
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

  test('without a proven block it does not start, and calls that need a node name the reason', async () => {
    const { pool } = await openStage(CAPELLA_FILE);
    const failure = await pool.start().catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(NoUpstreamError);
    expect(failure).toMatchObject({ message: expect.stringContaining('no public list contains block 19426587') });
    const call = await pool.request('eth_call', []).catch((error: unknown) => error);
    expect(isNodeless(call)).toBe(true);
  });
});
