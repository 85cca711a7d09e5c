import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseBlock, parseReceipt } from '@chainstead/rpc';
import type { WatchedBlock } from '@chainstead/sync';
import { recordedData } from '@chainstead/testkit';

export const RECORDINGS = recordedData('data/evm');

export interface RecordedBlock {
  readonly folder: string;
  readonly chain: string;
  readonly stats: { readonly logs?: number; readonly erc20?: number };
}

/** Returns the recorded blocks, and none if they are missing. */
export function recordedBlocks(): readonly RecordedBlock[] {
  return RECORDINGS.isMissing ? [] : JSON.parse(readFileSync(join(RECORDINGS.folder, 'index.json'), 'utf8'));
}

/** Returns a recorded block in the watcher's form; there are no recorded traces. */
export function watchedBlock({ folder }: RecordedBlock): WatchedBlock {
  const read = (file: string): unknown => JSON.parse(readFileSync(join(RECORDINGS.folder, folder, file), 'utf8'));
  const block = parseBlock(read('block.json'));
  const receipts = (read('receipts.json') as unknown[]).map(parseReceipt);
  const logs = receipts.flatMap((receipt) => receipt.logs);
  return { header: block.header, block, receipts, logs, internalTransfers: null };
}
