import type { Hash } from '@chainstead/core';
import type { TracingRequest } from './on-demand-reads.ts';
import { internalTransactionsKind } from './reading/internal-transactions-reader.ts';
import type { InternalTransactionRecord } from './records/internal-transaction-record.ts';
import type { ProofMark, TransactionRecord } from './records/transaction-record.ts';

/** Null: no node provides traces. */
export type InternalTransactionsByHash = ReadonlyMap<string, readonly InternalTransactionRecord[]> | null;

export interface TransactionToTrace {
  readonly transaction: TransactionRecord;
  readonly block: { readonly hash: Hash };
  readonly proof: ProofMark;
  readonly finalized: boolean;
}

/** Up to 100; traces must match their fields. @throws as {@link OnDemandReads.read} */
export async function readInternalTransactions(
  { onDemandReads, chain, requester }: TracingRequest,
  placed: readonly TransactionToTrace[],
): Promise<InternalTransactionsByHash> {
  if (placed.length === 0) return new Map();
  const isFinal = placed.every(({ finalized }) => finalized);
  const { traced } = await onDemandReads.read({
    chain,
    kind: internalTransactionsKind,
    question: { transactions: placed.map(toTraced) },
    isLasting: (answer) => isFinal && answer.traced !== null,
    requester,
  });
  return byHash(traced);
}

/** One trace. @throws as {@link OnDemandReads.read} */
export async function readInternalTransactionsOfBlock(
  { onDemandReads, chain, requester }: TracingRequest,
  { number, hash, finalized }: { readonly number: number; readonly hash: Hash; readonly finalized: boolean },
): Promise<InternalTransactionsByHash> {
  const { traced } = await onDemandReads.read({
    chain,
    kind: internalTransactionsKind,
    question: { block: { number, hash } },
    isLasting: (answer) => finalized && answer.traced !== null,
    requester,
  });
  return byHash(traced);
}

function byHash(
  traced: readonly { readonly hash: string; readonly calls: readonly InternalTransactionRecord[] }[] | null,
): InternalTransactionsByHash {
  return traced === null ? null : new Map(traced.map(({ hash, calls }) => [hash, calls]));
}

function toTraced({ transaction, block, proof }: TransactionToTrace) {
  const { hash, type, from, to, value, status, contractAddress } = transaction;
  return {
    ...{ hash, type, from, to, value, contractAddress },
    blockHash: block.hash,
    succeeded: status === null ? null : status === 1,
    isProven: proof === 'receipts+transactions',
  };
}
