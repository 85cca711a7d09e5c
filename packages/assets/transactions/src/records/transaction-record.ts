import type { Chain } from '@chainstead/chains';
import { type FeeParts, feesOf } from '@chainstead/chains/fees';
import type { BlockHeader, Log } from '@chainstead/core';
import type { ExecutedTransaction } from '@chainstead/sync/datasets';
import { z } from 'zod';
import { transactionOutcome } from './transaction-outcome.ts';

const digits = z.string().regex(/^\d+$/);

export const logRecordSchema = z.object({
  index: z.int(),
  address: z.string(),
  topics: z.array(z.string()),
  data: z.string(),
});

export const transactionRecordSchema = z.object({
  hash: z.string(),
  index: z.int(),
  type: z.int(),
  nonce: digits,
  from: z.string(),
  to: z.string().nullable(),
  /** Wei. */
  value: digits,
  gas: digits,
  /** Wei per gas. */
  gasPrice: digits,
  input: z.string(),
  gasUsed: digits,
  cumulativeGasUsed: digits,
  contractAddress: z.string().nullable(),
  root: z.string().nullable(),
  /** Null before Byzantium. */
  status: z.int().min(0).max(1).nullable(),
  /** Wei, with rollup fees, without blob costs. */
  fee: digits,
  /** Wei; null: no blobs, or an unknown price. */
  blobFee: digits.nullable(),
  logs: z.array(logRecordSchema),
});

export type TransactionRecord = z.infer<typeof transactionRecordSchema>;

export function transactionRecord(
  executed: ExecutedTransaction,
  header: Pick<BlockHeader, 'raw'>,
  chain: Pick<Chain, 'id'>,
): TransactionRecord {
  const outcome = transactionOutcome(executed, header, chain);
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

export function feesPaid(gasUsed: bigint, parts: FeeParts): Pick<TransactionRecord, 'fee' | 'blobFee'> {
  const { fee, blobFee } = feesOf(gasUsed, parts);
  return { fee: fee.toString(), blobFee: blobFee?.toString() ?? null };
}
