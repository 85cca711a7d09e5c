import type { InternalTransfer } from '../block-watcher.ts';
import type { InternalTransaction } from '../whole-block.ts';

/** Those that moved value to another account: not reverted, and not the transaction itself. In the given order. */
export function internalTransfers(calls: readonly InternalTransaction[]): InternalTransfer[] {
  return calls.flatMap(({ transactionHash, traceAddress, from, to, value, gas, isReverted }) =>
    isReverted || traceAddress.length === 0 || value === 0n || to === null
      ? []
      : [{ transactionHash, from, to, value, gas }],
  );
}
