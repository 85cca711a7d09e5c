import type { BlockHeader, Hash } from '@chainstead/core';
import type { ExecutedTransaction } from '@chainstead/sync';

/** The result of a transaction and its costs, from its receipt, or from the transaction and its block. */
export interface TransactionOutcome {
  /** Wei paid per unit of gas. Deposits are free. */
  readonly gasPrice: bigint;
  /** Wei that rollups charge for the chain below them, in addition to gas; null if they don't. */
  readonly l1Fee: bigint | null;
  /** Null if it has no blobs, like the next fields. */
  readonly blobGasUsed: bigint | null;
  /** Wei. */
  readonly blobGasPrice: bigint | null;
  /** State root after it, before Byzantium. */
  readonly root: Hash | null;
  /** Null before Byzantium. */
  readonly status: 0 | 1 | null;
}

export function transactionOutcome(
  executed: ExecutedTransaction,
  header: Pick<BlockHeader, 'raw'>,
): TransactionOutcome {
  const { receipt, raw } = executed;
  const hasBlobs = raw.blobVersionedHashes !== undefined;
  return {
    gasPrice: pricePaid(executed, quantity(header.raw.baseFeePerGas)),
    l1Fee: feesBelow(receipt.raw),
    blobGasUsed: hasBlobs ? quantity(receipt.raw.blobGasUsed) : null,
    blobGasPrice: hasBlobs ? quantity(receipt.raw.blobGasPrice) : null,
    root: rootAfter(executed),
    status: statusOf(executed),
  };
}

/** 1: succeeded, 0: failed; null before Byzantium, whose receipts have no status: some nodes invent one for them. */
export function statusOf(executed: ExecutedTransaction): 0 | 1 | null {
  if (rootAfter(executed) !== null || executed.succeeded === null) return null;
  return executed.succeeded ? 1 : 0;
}

function rootAfter({ receipt }: ExecutedTransaction): Hash | null {
  return isHash(receipt.raw.root) ? (receipt.raw.root.toLowerCase() as Hash) : null;
}

function pricePaid({ raw, receipt }: ExecutedTransaction, baseFee: bigint | null): bigint {
  const reported = quantity(receipt.raw.effectiveGasPrice);
  if (reported !== null) return reported;
  const [most, tip] = [quantity(raw.maxFeePerGas), quantity(raw.maxPriorityFeePerGas)];
  if (most === null || tip === null || baseFee === null) return quantity(raw.gasPrice) ?? 0n;
  return most < baseFee + tip ? most : baseFee + tip;
}

function feesBelow({ l1Fee, operatorFee }: ExecutedTransaction['receipt']['raw']): bigint | null {
  const parts = [quantity(l1Fee), quantity(operatorFee)].filter((part) => part !== null);
  return parts.length === 0 ? null : parts.reduce((sum, part) => sum + part);
}

function quantity(value: unknown): bigint | null {
  return typeof value === 'string' && /^0x[0-9a-f]+$/i.test(value) ? BigInt(value) : null;
}

const HASH_LENGTH = 66;

function isHash(value: unknown): value is string {
  return typeof value === 'string' && value.length === HASH_LENGTH;
}
