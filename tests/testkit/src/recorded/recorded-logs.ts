import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type Hex, type Log, parseAddress, parseHash } from '@chainstead/core';
import { TestkitError } from '../testkit-error.ts';
import { recordedEvmFolder } from './recorded-data.ts';

interface RawLog {
  readonly address: string;
  readonly topics: readonly string[];
  readonly data: string;
  readonly blockNumber: string | number;
  readonly blockHash: string;
  readonly transactionHash: string;
  readonly transactionIndex: string | number;
  readonly logIndex: string | number;
}

/**
 * All logs of a recorded block, in chain order, without timestamps.
 * @param block its folder: `ethereum/15000000`
 * @throws {TestkitError} where no recorded blocks were given
 */
export function readRecordedLogs(block: string): Log[] {
  const folder = recordedEvmFolder();
  if (folder === null) throw new TestkitError('There are no recorded blocks next to the repository', { block });
  const receipts: { logs?: RawLog[] }[] = JSON.parse(readFileSync(join(folder, block, 'receipts.json'), 'utf8'));
  return receipts.flatMap(({ logs }) => (logs ?? []).map(logOf));
}

/**
 * Folders of all recorded blocks that have logs, those recorded in part too: `ethereum/15000000`,
 * `partial/ethereum-receipts/14851893`. None where no recorded blocks were given.
 */
export function listRecordedBlocks(): string[] {
  const folder = recordedEvmFolder();
  if (folder === null) return [];
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('/receipts.json'))
    .map((path) => dirname(path))
    .toSorted();
}

/** Numbers are quantities, in some recordings in part decimal: `Number` reads both. */
function logOf(raw: RawLog): Log {
  return {
    address: parseAddress(raw.address),
    topics: raw.topics.map(parseHash),
    data: raw.data.toLowerCase() as Hex,
    blockNumber: Number(raw.blockNumber),
    blockHash: parseHash(raw.blockHash),
    transactionHash: parseHash(raw.transactionHash),
    transactionIndex: Number(raw.transactionIndex),
    logIndex: Number(raw.logIndex),
    blockTimestamp: null,
  };
}
