import type { Chain } from '@chainstead/chains';
import { type FeeParts, feeParts } from '@chainstead/chains/fees';
import type { BlockHeader, Hash } from '@chainstead/core';
import type { ExecutedTransaction } from '@chainstead/sync/datasets';

export interface TransactionOutcome extends FeeParts {
  readonly gasPrice: bigint;
  /** Before Byzantium. */
  readonly root: Hash | null;
  /** Null before Byzantium. */
  readonly status: 0 | 1 | null;
}

export function transactionOutcome(
  executed: ExecutedTransaction,
  header: Pick<BlockHeader, 'raw'>,
  chain: Pick<Chain, 'id'>,
): TransactionOutcome {
  const { receipt, raw } = executed;
  const parts = feeParts({ transaction: raw, receipt: receipt.raw, header: header.raw }, chain);
  return { ...parts, gasPrice: parts.gasPrice ?? 0n, root: rootAfter(executed), status: statusOf(executed) };
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

const HASH_LENGTH = 66;
