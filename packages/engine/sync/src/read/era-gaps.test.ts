/** Mainnet's blocks around the merge, from a real era file with one damaged record. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createChainRegistry } from '@chainstead/chains';
import { createMetricsRegistry, silentLogger, systemClock } from '@chainstead/core';
import { createUpstreamPool } from '@chainstead/rpc/pool';
import { createEraPool, openEraSource } from '@chainstead/sources/open';
import { recordedData } from '@chainstead/testkit';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createBatchDecoder } from './decoded-batch.ts';
import { readRangeProven } from './read-range.ts';

const PROOFS = recordedData('data/proofs');
const FILE = 'mainnet-01896-56a9bb03.ere';
const SLIM_RECEIPTS = 0x0a;
const chain = createChainRegistry().get('eth');
const logger = silentLogger();

async function openPool() {
  const folder = await mkdtemp(join(tmpdir(), 'era-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const bytes = await readFile(join(PROOFS.folder, 'files', FILE));
  let at = 0;
  while (bytes.readUInt16LE(at) !== SLIM_RECEIPTS) at += 8 + bytes.readUInt32LE(at + 2);
  bytes.writeUInt8((bytes[at + 40] ?? 0) ^ 1, at + 40);
  await writeFile(join(folder, FILE), bytes);
  const metrics = createMetricsRegistry();
  const nodeless = createUpstreamPool({ chain, upstreams: [], logger, metrics, clock: systemClock });
  const sources = [openEraSource({ folder, chain, isAlone: true })];
  return createEraPool({ chain, clock: systemClock, sources, nodeless });
}

describe.skipIf(PROOFS.isMissing)(PROOFS.title('blocks that era files do not prove'), () => {
  it.each([
    ['a damaged block', { from: 15_537_393, to: 15_537_394 }, [15_537_394], /15537393|mainnet-01896/],
    ['blocks below the files', { from: 15_537_390, to: 15_537_392 }, [], /no file that can be proven/],
  ])('%s is a gap of a backfill, and an error of other readers', async (_, range, read, reason) => {
    const reading = {
      ...{ pool: await openPool(), chain, policy: chain.proofPolicy, logger, depth: 2 },
      ...{ parts: new Set(['logs'] as const), signal: AbortSignal.timeout(60_000) },
    };
    const decode = (leavesFileGaps: boolean) =>
      readRangeProven({ ...reading, leavesFileGaps }, range, createBatchDecoder(chain, [], 1_000));
    const { blocks, lacking, levels } = await decode(true);
    expect([...blocks.keys()]).toEqual(read);
    expect(lacking.get('logs')).toMatchObject({ reason: expect.stringMatching(reason), isUnsupported: false });
    expect(levels.logs ?? []).toMatchObject(
      read.map((number) => ({ range: { from: number, to: number }, proof: 'receipts' })),
    );
    await expect(decode(false)).rejects.toMatchObject({ code: 'FILES_LACK_BLOCKS' });
  });
});
