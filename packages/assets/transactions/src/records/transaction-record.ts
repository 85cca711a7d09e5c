import type { Chain } from '@chainstead/chains';
import { type FeeParts, feeParts, feesOf } from '@chainstead/chains/fees';
import { type Address, type BlockHeader, type Hash, type Hex, type Log, ZERO_ADDRESS } from '@chainstead/core';
import type { ReadDatabase } from '@chainstead/db';
import { type AddressLabel, getLabels } from '@chainstead/pages';
import type { ExecutedTransaction } from '@chainstead/sync/datasets';
import { z } from 'zod';

export const digits = z.string().regex(/^\d+$/);

/** Proven when it was read. */
export const address = z.custom<Address>((value) => typeof value === 'string');
export const hash = z.custom<Hash>((value) => typeof value === 'string');
export const hex = z.custom<Hex>((value) => typeof value === 'string');

/** Both roots were recomputed, and senders recovered; `none`: not provable. */
export const proofMarkSchema = z.enum(['receipts+transactions', 'none']);
export type ProofMark = z.infer<typeof proofMarkSchema>;

export const logRecordSchema = z.object({ index: z.int(), address, topics: z.array(hash), data: hex });

export const transactionRecordSchema = z.object({
  hash,
  index: z.int(),
  type: z.int(),
  nonce: digits,
  from: address,
  to: address.nullable(),
  /** Wei. */
  value: digits,
  gas: digits,
  /** Wei per gas. */
  gasPrice: digits,
  input: hex,
  gasUsed: digits,
  cumulativeGasUsed: digits,
  contractAddress: address.nullable(),
  root: hash.nullable(),
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
    input: executed.input.toLowerCase() as Hex,
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

interface TransactionOutcome extends FeeParts {
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

export type LabelOf = (address: Address | null) => AddressLabel;

export async function labelsOfTransactions(
  database: ReadDatabase,
  chain: Pick<Chain, 'id'>,
  transactions: readonly Pick<TransactionRecord, 'from' | 'to'>[],
): Promise<LabelOf> {
  const addresses = new Set(transactions.flatMap(({ from, to }) => (to === null ? [from] : [from, to])));
  addresses.delete(ZERO_ADDRESS);
  const find = await getLabels(database, chain, [...addresses]);
  return (address) => find(address ?? ZERO_ADDRESS);
}
