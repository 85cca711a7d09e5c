import {
  InvalidPrimitiveError,
  type Log,
  parseBigQuantity,
  parseHash,
  parsePlace,
  parseQuantity,
  type Receipt,
} from '@chainstead/core';
import { createLogsParser, MalformedAnswerError } from './parse-log.ts';
import { isEmptyBloom, standardReceipt } from './standard-form.ts';

const NO_LOGS: readonly Log[] = [];
const TYPE_MAX = 0xff;

/** Old recordings lack `type`, `from`, `to`. @throws MalformedAnswerError, InvalidPrimitiveError */
export function parseReceipt(json: unknown): Receipt {
  return createReceiptParser()(json);
}

/** For a block: values that logs repeat are checked and stored once. */
export function createReceiptParser(): (json: unknown) => Receipt {
  const parseItsLogs = createLogsParser();
  return (json) => {
    if (typeof json !== 'object' || json === null || Array.isArray(json))
      throw new MalformedAnswerError('A receipt is not an object', { type: typeof json });
    const raw = standardReceipt(json as Record<string, unknown>);
    return {
      transactionHash: parseHash(raw.transactionHash),
      transactionIndex: parsePlace(raw.transactionIndex, 'transaction index'),
      type: parseType(raw.type),
      cumulativeGasUsed: parseBigQuantity(raw.cumulativeGasUsed),
      logs: raw.logs === null && !contradictsNoLogs(raw.logsBloom) ? NO_LOGS : parseItsLogs(raw.logs),
      raw,
    };
  };
}

function contradictsNoLogs(bloom: unknown): boolean {
  return bloom !== undefined && bloom !== null && !isEmptyBloom(bloom);
}

function parseType(value: unknown): number {
  const type = value === undefined || value === null ? 0 : parseQuantity(value);
  if (type > TYPE_MAX) throw new InvalidPrimitiveError('quantity', value);
  return type;
}
