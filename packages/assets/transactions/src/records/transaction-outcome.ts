import type { BlockHeader, Hash } from '@chainstead/core';
import type { ExecutedTransaction } from '@chainstead/sync/datasets';

export interface TransactionOutcome {
  /** Wei per gas; 0 for deposits. */
  readonly gasPrice: bigint;
  /** Wei for the chain below, apart from gas; null: not charged. */
  readonly l1Fee: bigint | null;
  /** Null: no blobs. */
  readonly blobGasUsed: bigint | null;
  /** Wei. */
  readonly blobGasPrice: bigint | null;
  /** Before Byzantium. */
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
  const feesBelow = [receipt.raw.l1Fee, receipt.raw.operatorFee].flatMap((fee) => quantity(fee) ?? []);
  return {
    gasPrice: pricePaid(executed, quantity(header.raw.baseFeePerGas)),
    l1Fee: feesBelow.length === 0 ? null : feesBelow.reduce((sum, fee) => sum + fee),
    blobGasUsed: hasBlobs ? quantity(receipt.raw.blobGasUsed) : null,
    blobGasPrice: hasBlobs ? quantity(receipt.raw.blobGasPrice) : null,
    root: rootAfter(executed),
    status: statusOf(executed),
  };
}

/** 1: succeeded; null before Byzantium: some nodes invent one. */
export function statusOf(executed: ExecutedTransaction): 0 | 1 | null {
  if (rootAfter(executed) !== null || executed.succeeded === null) return null;
  return executed.succeeded ? 1 : 0;
}

function rootAfter({ receipt: { raw } }: ExecutedTransaction): Hash | null {
  return typeof raw.root === 'string' && raw.root.length === HASH_LENGTH
    ? (raw.root.toLowerCase() as Hash)
    : null;
}

function pricePaid({ raw, receipt }: ExecutedTransaction, baseFee: bigint | null): bigint {
  const reported = quantity(receipt.raw.effectiveGasPrice);
  if (reported !== null) return reported;
  const [limit, tip] = [quantity(raw.maxFeePerGas), quantity(raw.maxPriorityFeePerGas)];
  if (limit === null || tip === null || baseFee === null) return quantity(raw.gasPrice) ?? 0n;
  return limit < baseFee + tip ? limit : baseFee + tip;
}

function quantity(value: unknown): bigint | null {
  return typeof value === 'string' && /^0x[0-9a-f]+$/i.test(value) ? BigInt(value) : null;
}

const HASH_LENGTH = 66;
