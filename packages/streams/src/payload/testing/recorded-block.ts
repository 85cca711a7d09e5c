import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseBlock, parseReceipt } from '@chainstead/rpc';
import type { WatchedBlock } from '@chainstead/sync';

/** Folder of the recordings beside the repository. */
export const RECORDINGS = join(import.meta.dirname, '../../../../../../shared/data');

export interface RecordedBlock {
  readonly folder: string;
  readonly chain: string;
  readonly stats: { readonly logs?: number; readonly erc20?: number };
}

/** The recorded blocks; none, with a line that says so, where they are not at hand. */
export function recordedBlocks(who: string): readonly RecordedBlock[] {
  const index = join(RECORDINGS, 'evm/index.json');
  if (existsSync(index)) return JSON.parse(readFileSync(index, 'utf8'));
  process.stderr.write(`${who}: not run on recorded blocks, ${index} is not there\n`);
  return [];
}

/** A recorded block as watchers see it; there are no recorded traces. */
export function watchedBlock({ folder }: RecordedBlock): WatchedBlock {
  const read = (file: string): unknown => JSON.parse(readFileSync(join(RECORDINGS, 'evm', folder, file), 'utf8'));
  const block = parseBlock(read('block.json'));
  const receipts = (read('receipts.json') as unknown[]).map(parseReceipt);
  const logs = receipts.flatMap((receipt) => receipt.logs);
  return { header: block.header, block, receipts, logs, internalTransfers: null };
}
