import type { BlockHeader, Log } from '@chainstead/core';
import type { ExecutedTransaction } from '@chainstead/sync';
import { z } from 'zod';
import { type TransactionOutcome, transactionOutcome } from './transaction-outcome.ts';

const digits = z.string().regex(/^\d+$/);

export const logRecordSchema = z.object({
  index: z.int(),
  address: z.string(),
  topics: z.array(z.string()),
  data: z.string(),
});

/** The source of responses, whether stored or read from a node. */
export const transactionRecordSchema = z.object({
  hash: z.string(),
  index: z.int(),
  /** EIP-2718 type; 0 for legacy ones. */
  type: z.int(),
  nonce: digits,
  from: z.string(),
  to: z.string().nullable(),
  /** Wei. */
  value: digits,
  gas: digits,
  /** Wei paid per unit of gas. */
  gasPrice: digits,
  input: z.string(),
  gasUsed: digits,
  cumulativeGasUsed: digits,
  contractAddress: z.string().nullable(),
  /** State root after it, before Byzantium. */
  root: z.string().nullable(),
  /** Null before Byzantium. */
  status: z.int().min(0).max(1).nullable(),
  /** Wei that the sender paid, on rollups including the part for the chain below; without blob costs. */
  fee: digits,
  /** Wei that its blobs cost; null if it has none. */
  blobFee: digits.nullable(),
  logs: z.array(logRecordSchema),
});

export type TransactionRecord = z.infer<typeof transactionRecordSchema>;

export function transactionRecord(executed: ExecutedTransaction, header: Pick<BlockHeader, 'raw'>): TransactionRecord {
  const outcome = transactionOutcome(executed, header);
  const { hash, index, type, from, to } = executed;
  return {
    ...{ hash, index, type, nonce: executed.nonce.toString(), from, to },
    value: executed.value.toString(),
    gas: executed.gas.toString(),
    gasPrice: outcome.gasPrice.toString(),
    input: executed.input.toLowerCase(),
    gasUsed: executed.gasUsed.toString(),
    cumulativeGasUsed: executed.receipt.cumulativeGasUsed.toString(),
    contractAddress: executed.contractAddress,
    root: outcome.root,
    status: outcome.status,
    ...feesPaid(executed.gasUsed, outcome),
    logs: logRecords(executed.logs),
  };
}

export function logRecords(logs: readonly Log[]): TransactionRecord['logs'] {
  return logs
    .toSorted((left, right) => left.logIndex - right.logIndex)
    .map(({ logIndex, address, topics, data }) => ({ index: logIndex, address, topics: [...topics], data }));
}

/** Fees include rollup fees in addition to gas. */
export function feesPaid(
  gasUsed: bigint,
  { gasPrice, l1Fee, blobGasUsed, blobGasPrice }: Omit<TransactionOutcome, 'root' | 'status'>,
): Pick<TransactionRecord, 'fee' | 'blobFee'> {
  return {
    fee: (gasUsed * gasPrice + (l1Fee ?? 0n)).toString(),
    blobFee: blobGasUsed === null || blobGasPrice === null ? null : (blobGasUsed * blobGasPrice).toString(),
  };
}
