import type { BlockHeader } from '@chainstead/core';
import type { ExecutedTransaction } from '@chainstead/sync';
import { z } from 'zod';

const digits = z.string().regex(/^\d+$/);

const logRecordSchema = z.object({
  index: z.int(),
  address: z.string(),
  topics: z.array(z.string()),
  data: z.string(),
});

/** A transaction with what came of it, as plain values: what answers are shaped of, wherever it was kept or read. */
export const transactionRecordSchema = z.object({
  hash: z.string(),
  index: z.int(),
  nonce: digits,
  from: z.string(),
  /** Null where it creates a contract. */
  to: z.string().nullable(),
  /** Wei. */
  value: digits,
  /** Gas limit. */
  gas: digits,
  /** Wei that were paid for each unit of gas. */
  gasPrice: digits,
  input: z.string(),
  gasUsed: digits,
  cumulativeGasUsed: digits,
  /** The contract that it created. */
  contractAddress: z.string().nullable(),
  /** State root after it, before Byzantium. */
  root: z.string().nullable(),
  /** Null before Byzantium. */
  status: z.int().min(0).max(1).nullable(),
  /** Wei that the sender paid, on rollups with the part for the chain below; without what blobs cost. */
  fee: digits,
  /** Wei that its blobs cost; null where it has none. */
  blobFee: digits.nullable(),
  /** By index. */
  logs: z.array(logRecordSchema),
});

export type TransactionRecord = z.infer<typeof transactionRecordSchema>;

/** The record of a transaction of a block that was read whole. */
export function transactionRecord(executed: ExecutedTransaction, header: Pick<BlockHeader, 'raw'>): TransactionRecord {
  const { receipt, raw } = executed;
  const root = isHash(receipt.raw.root) ? receipt.raw.root.toLowerCase() : null;
  const gasPrice = pricePaid(executed, quantity(header.raw.baseFeePerGas));
  const blobGas = quantity(receipt.raw.blobGasUsed);
  const blobPrice = quantity(receipt.raw.blobGasPrice);
  return {
    hash: executed.hash,
    index: executed.index,
    nonce: executed.nonce.toString(),
    from: executed.from,
    to: executed.to,
    value: executed.value.toString(),
    gas: executed.gas.toString(),
    gasPrice: gasPrice.toString(),
    input: executed.input.toLowerCase(),
    gasUsed: executed.gasUsed.toString(),
    cumulativeGasUsed: receipt.cumulativeGasUsed.toString(),
    contractAddress: executed.contractAddress,
    root,
    // Some nodes make up a status for receipts that have a root.
    status: root !== null || executed.succeeded === null ? null : Number(executed.succeeded),
    fee: (executed.gasUsed * gasPrice + feesBelow(receipt.raw)).toString(),
    blobFee:
      raw.blobVersionedHashes === undefined || blobGas === null || blobPrice === null
        ? null
        : (blobGas * blobPrice).toString(),
    logs: executed.logs
      .toSorted((one, other) => one.logIndex - other.logIndex)
      .map(({ logIndex, address, topics, data }) => ({ index: logIndex, address, topics: [...topics], data })),
  };
}

/** What receipts say, or for old ones without it, what follows from the transaction and its block. Deposits are free. */
function pricePaid({ raw, receipt }: ExecutedTransaction, baseFee: bigint | null): bigint {
  const told = quantity(receipt.raw.effectiveGasPrice);
  if (told !== null) return told;
  const [most, tip] = [quantity(raw.maxFeePerGas), quantity(raw.maxPriorityFeePerGas)];
  if (most === null || tip === null || baseFee === null) return quantity(raw.gasPrice) ?? 0n;
  return most < baseFee + tip ? most : baseFee + tip;
}

/** What rollups charge for the chain below them, beside gas. */
function feesBelow({ l1Fee, operatorFee }: ExecutedTransaction['receipt']['raw']): bigint {
  return (quantity(l1Fee) ?? 0n) + (quantity(operatorFee) ?? 0n);
}

function quantity(value: unknown): bigint | null {
  return typeof value === 'string' && /^0x[0-9a-f]+$/i.test(value) ? BigInt(value) : null;
}

const HASH_LENGTH = 66;

function isHash(value: unknown): value is string {
  return typeof value === 'string' && value.length === HASH_LENGTH;
}
