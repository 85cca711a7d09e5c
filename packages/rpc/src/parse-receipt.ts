import { parseBigQuantity, parseHash, parseQuantity, type Receipt } from '@chainstead/core';
import { MalformedAnswerError, parseLogs } from './parse-log.ts';

/**
 * One receipt of `eth_getTransactionReceipt` or `eth_getBlockReceipts`. Old recordings have no `type`, `from`, `to`.
 * @throws MalformedAnswerError, InvalidPrimitiveError
 */
export function parseReceipt(json: unknown): Receipt {
  if (typeof json !== 'object' || json === null || Array.isArray(json))
    throw new MalformedAnswerError('A receipt is not an object', { type: typeof json });
  const raw = json as Record<string, unknown>;
  return {
    transactionHash: parseHash(raw.transactionHash),
    transactionIndex: parseQuantity(raw.transactionIndex),
    type: raw.type === undefined || raw.type === null ? 0 : toType(raw.type),
    cumulativeGasUsed: parseBigQuantity(raw.cumulativeGasUsed),
    logs: parseLogs(raw.logs),
    raw,
  };
}

/** Some nodes write the type as a number. */
function toType(value: unknown): number {
  if (typeof value === 'number' && Number.isInteger(value) && value >= 0 && value < 256) return value;
  return parseQuantity(value);
}
