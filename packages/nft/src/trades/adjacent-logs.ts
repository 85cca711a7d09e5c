import type { Log } from '@chainstead/core';
import { isNativeTransferLog } from '@chainstead/token-events';
import type { TradeTransaction } from './marketplace.ts';

/** Whether no contract logged between the two; clients may log native transfers there (EIP-7708). */
export function areAdjacent(first: Log, second: Log, { logs }: TradeTransaction): boolean {
  const isBetween = ({ logIndex }: Log) => first.logIndex < logIndex && logIndex < second.logIndex;
  const native = logs.filter((log) => isNativeTransferLog(log) && isBetween(log)).length;
  return second.logIndex - first.logIndex - native === 1;
}
