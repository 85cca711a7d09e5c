import type { Log } from '@chainstead/core';
import { type LogsQuery, MalformedAnswerError, parseLogs } from '@chainstead/rpc';
import { checkLogs, matchesLog, toExpectation } from '@chainstead/rpc/check-logs';
import { bytes, quantity } from './forms.ts';
import { headerJson } from './header-json.ts';
import { logJson } from './receipt-json.ts';
import type { BlockRows } from './source-block.ts';

/** Ascending. Sources may send more than the query wants. @throws MalformedAnswerError, InvalidPrimitiveError */
export function readLogs(blocks: readonly Pick<BlockRows, 'header' | 'logs'>[], query: LogsQuery): Log[] {
  const expected = toExpectation(query);
  const logs = blocks.flatMap(({ header: row, logs: rows }) => {
    if (rows.length === 0) return [];
    const header = headerJson(row);
    return rows.map((log) => {
      const place = {
        transactionHash: bytes(log.transactionHash, 'transactionHash'),
        transactionIndex: quantity(log.transactionIndex, 'transactionIndex'),
      };
      return logJson(log, place, header);
    });
  });
  const ordered = checkLogs(
    parseLogs(logs).filter((log) => matchesLog(log, expected)),
    expected,
  );
  const repeated = ordered.find((log, index) => index > 0 && isSame(log, ordered[index - 1]));
  if (repeated !== undefined)
    throw new MalformedAnswerError(`Log ${repeated.logIndex} of block ${repeated.blockNumber} came twice`);
  return ordered;
}

function isSame(log: Log, other: Log | undefined): boolean {
  return (
    log.blockNumber === other?.blockNumber &&
    log.transactionIndex === other.transactionIndex &&
    log.logIndex === other.logIndex
  );
}
