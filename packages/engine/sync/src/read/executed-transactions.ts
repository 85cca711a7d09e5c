import {
  type Address,
  type Hex,
  parseAddress,
  parseBigQuantity,
  parseQuantity,
  type Receipt,
  ZERO_ADDRESS,
} from '@chainstead/core';
import type { BlockPart, ExecutedTransaction, WholeBlock } from '../dataset/whole-block.ts';
import type { ProvenBlock } from './proven-block.ts';

export type DecodableBlock = Pick<
  ProvenBlock,
  'header' | 'block' | 'receipts' | 'internalTransactions' | 'parts'
>;

/** Null if the part is unavailable. */
export type WholeBlockReader = (part: BlockPart) => WholeBlock | null;

/** Once for all datasets. Values of a `WeakMap` survive every minor garbage collection. */
export function wholeBlockReader(block: DecodableBlock): WholeBlockReader {
  let whole: WholeBlock | null = null;
  return (part) => {
    const proof = block.parts[part];
    if (proof === undefined || proof.level === 'unavailable') return null;
    whole ??= {
      header: block.header,
      transactions: executedTransactions(block),
      internalTransactions: block.internalTransactions ?? [],
    };
    return whole;
  };
}

/** Only transactions with receipts. @throws InvalidPrimitiveError only in unproven blocks */
export function executedTransactions({ block, receipts }: Pick<ProvenBlock, 'block' | 'receipts'>) {
  const executed: ExecutedTransaction[] = [];
  let byHash: ReadonlyMap<string, Receipt> | null = null;
  for (const [index, hash] of block.transactionHashes.entries()) {
    let receipt = receipts[index];
    // Nearly all receipts have the index of their transaction.
    if (receipt?.transactionHash !== hash) {
      byHash ??= new Map(receipts.map((candidate) => [candidate.transactionHash, candidate]));
      receipt = byHash.get(hash);
    }
    const raw = block.transactions?.[index];
    if (receipt !== undefined && raw !== undefined) executed.push(executedTransaction(raw, receipt, index));
  }
  return executed;
}

type Json = Readonly<Record<string, unknown>>;

/** @throws InvalidPrimitiveError for malformed values */
export function executedTransaction(raw: Json, receipt: Receipt, index: number): ExecutedTransaction {
  return {
    hash: receipt.transactionHash,
    index,
    type: raw.type === undefined || raw.type === null ? 0 : parseQuantity(raw.type),
    from: parseAddress(raw.from),
    to: addressOrNull(raw.to),
    nonce: parseBigQuantity(raw.nonce ?? '0x0'),
    value: parseBigQuantity(raw.value ?? '0x0'),
    gas: parseBigQuantity(raw.gas),
    input: (raw.input ?? raw.data ?? '0x') as Hex,
    succeeded: typeof receipt.raw.status === 'string' ? parseQuantity(receipt.raw.status) === 1 : null,
    gasUsed: parseBigQuantity(receipt.raw.gasUsed),
    // Some old nodes return the zero address instead of null.
    contractAddress:
      receipt.raw.contractAddress === ZERO_ADDRESS ? null : addressOrNull(receipt.raw.contractAddress),
    logs: receipt.logs,
    raw,
    receipt,
  };
}

function addressOrNull(value: unknown): Address | null {
  return value === undefined || value === null ? null : parseAddress(value);
}
