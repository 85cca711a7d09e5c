import type { Log } from '@chainstead/core';
import { isNativeTransferLog } from '@chainstead/token-events';
import type { TradeTransaction } from './marketplace.ts';

/**
 * Whether no contract logged anything between two logs of a transaction. Native transfers may: clients log them (EIP-7708),
 * so that events which a contract emits together can be apart.
 */
export function areAdjacent(first: Log, second: Log, { logs }: TradeTransaction): boolean {
  const isBetween = ({ logIndex }: Log) => first.logIndex < logIndex && logIndex < second.logIndex;
  const native = logs.filter((log) => isNativeTransferLog(log) && isBetween(log)).length;
  return second.logIndex - first.logIndex - native === 1;
}
