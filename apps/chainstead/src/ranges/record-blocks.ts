import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Chain } from '@chainstead/chains';
import { type BlockRange, defineError, rangeSize } from '@chainstead/core';
import type { UpstreamPool } from '@chainstead/rpc';
import { z } from 'zod';
import type { WorkProgress } from '../text/progress.ts';

export interface RecordOptions {
  readonly chain: Chain;
  readonly pool: UpstreamPool;
  readonly folder: string;
  onProgress(progress: WorkProgress): void;
}

export class BlockNotFoundError extends defineError('BLOCK_NOT_FOUND', (chain: Chain, block: number) => ({
  message: `No upstream of ${chain.key} has block ${block}`,
  facts: { chain: chain.key, block },
  remedy: 'Request blocks up to the head, or wait for this block',
  retryable: true,
})) {}

/** `<chain>/<block>/{block,receipts}.json` and `chain-ids.json`. @throws BlockNotFoundError */
export async function recordBlocks(
  options: RecordOptions,
  ranges: readonly BlockRange[],
  signal: AbortSignal,
): Promise<number> {
  const total = ranges.reduce((sum, range) => sum + rangeSize(range), 0);
  let done = 0;
  let logs = 0;
  const path = join(options.folder, 'chain-ids.json');
  await mkdir(options.folder, { recursive: true });
  const known = chainIds.parse(JSON.parse(await readOr(path, '{}')));
  await writeJson(path, { ...known, [options.chain.key]: options.chain.id });
  for (const range of ranges)
    for (let block = range.from; block <= range.to; block += 1) {
      signal.throwIfAborted();
      logs += await recordBlock(options, block);
      done += 1;
      options.onProgress({ done, total, logs });
    }
  return done;
}

async function recordBlock({ chain, pool, folder }: RecordOptions, number: number): Promise<number> {
  const answer = await pool.getWholeBlock(number, { transactions: true });
  if (answer === null) throw new BlockNotFoundError(chain, number);
  const { block, receipts } = answer.value;
  const target = join(folder, chain.key, String(number));
  await mkdir(target, { recursive: true });
  await writeJson(join(target, 'block.json'), { ...block.header.raw, transactions: block.transactions });
  await writeJson(
    join(target, 'receipts.json'),
    receipts.map(({ raw }) => raw),
  );
  return receipts.reduce((sum, receipt) => sum + receipt.logs.length, 0);
}

const chainIds = z.record(z.string(), z.number());

async function readOr(path: string, absent: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return absent;
    throw error;
  }
}

async function writeJson(path: string, value: unknown): Promise<void> {
  await writeFile(path, `${JSON.stringify(value, null, 1)}\n`);
}
