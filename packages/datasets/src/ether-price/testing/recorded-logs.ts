import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Log } from '@chainstead/core';
import { parseReceipt } from '@chainstead/rpc';
import { recordedEvmFolder } from '@chainstead/testkit';

const FOLDER = recordedEvmFolder();

/** Whether real blocks lie beside the repository; a line says so where they do not. */
export function hasRecordedLogs(test: string): boolean {
  if (FOLDER === null) process.stderr.write(`${test}: not run on real blocks, ../shared/data/evm is not there\n`);
  return FOLDER !== null;
}

/** All logs of a recorded block, in chain order. @param block `ethereum/15000000` */
export function recordedLogs(block: string): readonly Log[] {
  const receipts: readonly unknown[] = JSON.parse(readFileSync(join(FOLDER ?? '', block, 'receipts.json'), 'utf8'));
  return receipts.flatMap((receipt) => parseReceipt(receipt).logs);
}
