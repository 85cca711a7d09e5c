import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type Log, parseAddress, parseHash, parseQuantity } from '@chainstead/core';

const FOLDER = fileURLToPath(new URL('../../../../../shared/data/evm/', import.meta.url));

/** Whether real blocks lie beside the repository; a line says so where they do not. */
export function hasRecordedLogs(test: string): boolean {
  const given = existsSync(FOLDER);
  if (!given) process.stderr.write(`${test}: not run on real blocks, none are at ${FOLDER}\n`);
  return given;
}

/** All logs of a recorded block, in chain order. @param block `ethereum/15000000` */
export function recordedLogs(block: string): Log[] {
  const receipts: { logs: Record<string, string>[] }[] = JSON.parse(
    readFileSync(`${FOLDER}${block}/receipts.json`, 'utf8'),
  );
  return receipts.flatMap(({ logs }) => logs.map(parseLog));
}

function parseLog(raw: Readonly<Record<string, unknown>>): Log {
  return {
    address: parseAddress(raw.address),
    topics: Array.isArray(raw.topics) ? raw.topics.map(parseHash) : [],
    data: String(raw.data).toLowerCase() as Log['data'],
    blockNumber: parseQuantity(raw.blockNumber),
    blockHash: parseHash(raw.blockHash),
    transactionHash: parseHash(raw.transactionHash),
    transactionIndex: parseQuantity(raw.transactionIndex),
    logIndex: parseQuantity(raw.logIndex),
    blockTimestamp: null,
  };
}
