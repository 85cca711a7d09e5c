import { executedTransactions } from './executed-transactions.ts';
import type { ProvenBlock } from './proven-block.ts';
import type { BlockPart, WholeBlock } from './whole-block.ts';

/** What of a block that was read datasets are decoded from. */
export type DecodableBlock = Pick<ProvenBlock, 'header' | 'block' | 'receipts' | 'internalTransactions' | 'parts'>;

/** Gives the block to datasets that rest on the part; null where the part is not available. */
export type WholeBlockReader = (part: BlockPart) => WholeBlock | null;

/**
 * What datasets read of the block is made once for all of them. No `WeakMap` remembers it: what one holds outlives every collection of new objects, so
 * that with each block all of its transactions and logs were copied, and then waited for a collection of the whole heap.
 */
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
