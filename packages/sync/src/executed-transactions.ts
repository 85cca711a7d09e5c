import {
  type Address,
  type Hex,
  parseAddress,
  parseBigQuantity,
  parseQuantity,
  type Receipt,
  ZERO_ADDRESS,
} from '@chainstead/core';
import type { ProvenBlock } from './proven-block.ts';
import type { ExecutedTransaction } from './whole-block.ts';

type Json = Readonly<Record<string, unknown>>;

/**
 * The transactions of a block that have receipts, each with its own, in order.
 * @throws InvalidPrimitiveError for what only a block that is not proven can hold
 */
export function executedTransactions({
  block,
  receipts,
}: Pick<ProvenBlock, 'block' | 'receipts'>): ExecutedTransaction[] {
  const executed: ExecutedTransaction[] = [];
  let byHash: ReadonlyMap<string, Receipt> | null = null;
  for (const [index, hash] of block.transactionHashes.entries()) {
    let receipt = receipts[index];
    // Nearly all stand where their transactions do.
    if (receipt?.transactionHash !== hash) {
      byHash ??= new Map(receipts.map((one) => [one.transactionHash, one]));
      receipt = byHash.get(hash);
    }
    const raw = block.transactions?.[index];
    if (receipt !== undefined && raw !== undefined) executed.push(executedTransaction(raw, receipt, index));
  }
  return executed;
}

/**
 * A transaction with its receipt, as a node gives both.
 * @throws InvalidPrimitiveError for what no node gives
 */
export function executedTransaction(raw: Json, receipt: Receipt, index: number): ExecutedTransaction {
  return {
    hash: receipt.transactionHash,
    index,
    type: raw.type === undefined || raw.type === null ? 0 : parseQuantity(raw.type),
    from: parseAddress(raw.from),
    to: addressOrNull(raw.to),
    nonce: parseBigQuantity(raw.nonce ?? '0x0'),
    // Types of some chains hold several calls, each with a value of its own.
    value: parseBigQuantity(raw.value ?? '0x0'),
    gas: parseBigQuantity(raw.gas),
    input: (raw.input ?? raw.data ?? '0x') as Hex,
    succeeded: typeof receipt.raw.status === 'string' ? parseQuantity(receipt.raw.status) === 1 : null,
    gasUsed: parseBigQuantity(receipt.raw.gasUsed),
    // Some old nodes write the zero address for none.
    contractAddress: receipt.raw.contractAddress === ZERO_ADDRESS ? null : addressOrNull(receipt.raw.contractAddress),
    logs: receipt.logs,
    raw,
    receipt,
  };
}

function addressOrNull(value: unknown): Address | null {
  return value === undefined || value === null ? null : parseAddress(value);
}
