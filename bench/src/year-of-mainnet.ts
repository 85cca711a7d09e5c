/** How long a year of mainnet takes from era files, estimated from real blocks and the rate of the bench's blocks. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Chain, createChainRegistry } from '@chainstead/chains';
import type { BlockRange } from '@chainstead/core';
import { proveBlock } from '@chainstead/proof';
import type { BlockSource } from '@chainstead/sources';
import { openEraSource } from '@chainstead/sources/open';
import { recordedData } from '@chainstead/testkit';
import { BenchmarkError } from './benchmark-error.ts';
import { median } from './statistics.ts';

/** One block in 12 seconds. */
const BLOCKS_PER_YEAR = (365.25 * 86_400) / 12;
const BENCH_BLOCKS = 200;
/** The first ones warm up the program. */
const ROUNDS = 20;
/** The first block after the merge has 10,041 logs of one token. */
const ITEMS_MAX = 5_000;

interface ReadBlocks {
  readonly ms: number;
  /** Transactions and logs. */
  readonly items: number;
  readonly blocks: number;
}

/** @param era folder of the bench's blocks @param blocksPerSecond of a whole backfill from it */
export async function estimateYear(era: string, blocksPerSecond: number): Promise<string> {
  const real = recordedData('data/proofs');
  if (real.isMissing)
    return 'One year of mainnet: not estimated, as there are no recorded blocks next to the repository.';
  const facts: readonly { readonly transactions: number; readonly logs: number }[] = JSON.parse(
    await readFile(join(real.folder, 'blocks/index.json'), 'utf8'),
  );
  const items = median(facts.map(({ transactions, logs }) => transactions + logs));
  const ours = await readRepeatedly(era, BENCH_BLOCKS);
  const theirs = await readRepeatedly(join(real.folder, 'files'), Number.MAX_SAFE_INTEGER);
  const factor = theirs.ms / theirs.items / (ours.ms / ours.items);
  const itemsPerSecond = blocksPerSecond * (ours.items / ours.blocks);
  const hours = (BLOCKS_PER_YEAR * items * factor) / itemsPerSecond / 3_600;
  return (
    `One year of mainnet, estimated: ${BLOCKS_PER_YEAR} blocks × ${items} transactions and logs (median of ${facts.length} real blocks) ` +
    `× ${factor.toFixed(2)} (time to read and prove one in ${theirs.blocks} real blocks, against the bench's) ` +
    `÷ ${itemsPerSecond.toFixed(0)} per second (backfill from era files) = ${hours.toFixed(1)} hours.`
  );
}

/** The fastest round. */
async function readRepeatedly(folder: string, blocksMax: number): Promise<ReadBlocks> {
  const chain = createChainRegistry().get('eth');
  const source = openEraSource({ folder, chain });
  const rounds: ReadBlocks[] = [];
  for (let round = 0; round < ROUNDS; round++) rounds.push(await readOnce(source, chain, blocksMax));
  await source.close();
  return rounds.reduce((best, one) => (one.ms < best.ms ? one : best));
}

async function readOnce(source: BlockSource, chain: Chain, blocksMax: number): Promise<ReadBlocks> {
  const { signal } = new AbortController();
  const ranges = await source.available(signal);
  const read = { ms: 0, items: 0, blocks: 0 };
  for (const { from, to } of ranges) {
    const range: BlockRange = { from, to: Math.min(to, from + blocksMax - 1) };
    let startedAt = performance.now();
    for await (const { block, receipts } of source.readBlocks(range, { transactions: false }, signal)) {
      const { level } = proveBlock({ ...block, receipts }, chain);
      if (level !== 'receipts') throw new BenchmarkError(`Block ${block.header.number} is ${level}`);
      const items = receipts.reduce((sum, { logs }) => sum + logs.length + 1, 0);
      const now = performance.now();
      if (items <= ITEMS_MAX) {
        read.ms += now - startedAt;
        read.items += items;
        read.blocks += 1;
      }
      startedAt = now;
    }
  }
  return read;
}
