import { parseBigQuantity, parseHash, parseQuantity, type Receipt } from '@chainstead/core';
import { createLogsParser, MalformedAnswerError } from './parse-log.ts';

/**
 * One receipt of `eth_getTransactionReceipt` or `eth_getBlockReceipts`. Old recordings have no `type`, `from`, `to`.
 * @throws MalformedAnswerError, InvalidPrimitiveError
 */
export function parseReceipt(json: unknown): Receipt {
  return createReceiptParser()(json);
}

/** As {@link parseReceipt}, for the receipts of a block: what their logs repeat is checked and kept once. */
export function createReceiptParser(): (json: unknown) => Receipt {
  const parseItsLogs = createLogsParser();
  return (json) => {
    if (typeof json !== 'object' || json === null || Array.isArray(json))
      throw new MalformedAnswerError('A receipt is not an object', { type: typeof json });
    const raw = json as Record<string, unknown>;
    return {
      transactionHash: parseHash(raw.transactionHash),
      transactionIndex: parseQuantity(raw.transactionIndex),
      type: raw.type === undefined || raw.type === null ? 0 : toType(raw.type),
      cumulativeGasUsed: parseBigQuantity(raw.cumulativeGasUsed),
      logs: parseItsLogs(raw.logs),
      raw,
    };
  };
}

/** Some nodes write the type as a number. */
function toType(value: unknown): number {
  if (typeof value === 'number' && Number.isInteger(value) && value >= 0 && value < 256) return value;
  return parseQuantity(value);
}
