import type { BlockPart, WholeBlock } from '../dataset/whole-block.ts';
import { executedTransactions } from './executed-transactions.ts';
import type { ProvenBlock } from './proven-block.ts';

export type DecodableBlock = Pick<ProvenBlock, 'header' | 'block' | 'receipts' | 'internalTransactions' | 'parts'>;

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
