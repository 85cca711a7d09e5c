import { keccak256Hex, type Log } from '@chainstead/core';
import { hexToBytes, mayContain } from '@chainstead/proof';
import { type LogsExpectation, matchesLog } from '@chainstead/rpc/check-logs';
import type { LogsPage } from '../block-source.ts';
import { decodeBody } from './decode-body.ts';
import { decodeEraHeader } from './decode-header.ts';
import { decodeReceipts, placedLogs } from './decode-receipts.ts';
import { damage } from './era-damage.ts';
import type { EraFile } from './era-file.ts';

const PAGE_LOGS_MAX = 10_000;
const PAGE_BLOCKS_MAX = 1_000;
/** Above, the filter costs more than it saves. */
const BLOOM_VALUES_MAX = 200;

export interface BlockLogs {
  readonly logs: readonly Log[];
  readonly last: NonNullable<LogsPage['last']>;
  readonly file?: string;
}

/** Null: the file has no receipts. @throws EraDamage, InvalidPrimitiveError, MalformedAnswerError */
export async function readBlockLogs(
  file: EraFile,
  number: number,
  expected: LogsExpectation,
): Promise<BlockLogs | null> {
  const { rlp } = await file.header(number);
  const { header } = decodeEraHeader(rlp, number);
  const last = { number, hash: header.hash, timestamp: header.timestamp };
  if (header.logsBloom !== null && !mayMatch(hexToBytes(header.logsBloom), expected)) return { logs: [], last };
  const record = await file.receipts(number);
  if (record === null) return null;
  const receipts = decodeReceipts(record);
  const body = decodeBody(await file.body(number), rlp.length);
  if (receipts.length !== body.transactions.length)
    damage(`block ${number} has ${body.transactions.length} transactions and ${receipts.length} receipts`);
  let logIndex = 0;
  const logs = receipts.flatMap((receipt, transactionIndex) => {
    const at = { transactionHash: header.hash, transactionIndex, logIndex };
    logIndex += receipt.logs.length;
    const matching = placedLogs(receipt, header, at).filter((log) => matchesLog(log, expected));
    if (matching.length === 0) return [];
    const transactionHash = keccak256Hex(body.transactions[transactionIndex] ?? Buffer.alloc(0));
    return matching.map((log) => ({ ...log, transactionHash }));
  });
  return { logs, last };
}

/** Joins blocks of a file to pages of bounded weight. */
export async function* pagesOf(from: number, blocks: AsyncIterable<BlockLogs>): AsyncGenerator<LogsPage> {
  let first = from;
  let logs: Log[] = [];
  let open: BlockLogs | null = null;
  const page = ({ last, file }: BlockLogs): LogsPage => {
    const range = { from: first, to: last.number };
    const whole = { range, logs, last, ...(file !== undefined && { file }) };
    first = last.number + 1;
    logs = [];
    open = null;
    return whole;
  };
  for await (const block of blocks) {
    const before = open as BlockLogs | null;
    if (before !== null && before.file !== block.file) yield page(before);
    for (const log of block.logs) logs.push(log);
    open = block;
    if (logs.length >= PAGE_LOGS_MAX || block.last.number - first + 1 >= PAGE_BLOCKS_MAX) yield page(block);
  }
  if (open !== null) yield page(open);
}

function mayMatch(bloom: Buffer, { topics, addresses, indexed }: LogsExpectation): boolean {
  return [topics, addresses, ...indexed].every(
    (values) =>
      values === null ||
      values.size > BLOOM_VALUES_MAX ||
      [...values].some((value) => mayContain(bloom, value as `0x${string}`)),
  );
}
