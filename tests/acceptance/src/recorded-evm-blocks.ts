/** Recorded blocks with transactions and receipts, as their JSON has them. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { recordedData } from '@chainstead/testkit';
import type { RecordedBlock } from './expected-transactions.ts';

export const RECORDINGS = recordedData('data/evm');

export const readRecorded = (...path: string[]): unknown =>
  JSON.parse(readFileSync(join(RECORDINGS.folder, ...path), 'utf8'));

export interface Recording {
  readonly folder: string;
  readonly chain: string;
  readonly n: number;
  readonly conv: string;
  /** Whether every field is as a node gave it. */
  readonly isFaithful: boolean;
}

/** Those that were recorded whole. */
export function listRecordings(): readonly Recording[] {
  if (RECORDINGS.isMissing) return [];
  return (readRecorded('index.json') as Omit<Recording, 'isFaithful'>[])
    .filter((one) => !one.folder.startsWith('partial/'))
    .map((one) => ({ ...one, isFaithful: /^(as recorded|block decoded from)/.test(one.conv) }));
}

export function readRecording({ folder }: Recording): RecordedBlock {
  return {
    block: readRecorded(folder, 'block.json') as RecordedBlock['block'],
    receipts: readRecorded(folder, 'receipts.json') as RecordedBlock['receipts'],
  };
}
