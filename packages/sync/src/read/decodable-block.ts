import type { BlockPart, WholeBlock } from '../dataset/whole-block.ts';
import { executedTransactions } from './executed-transactions.ts';
import type { ProvenBlock } from './proven-block.ts';

/** The parts of a read block that datasets are decoded from. */
export type DecodableBlock = Pick<ProvenBlock, 'header' | 'block' | 'receipts' | 'internalTransactions' | 'parts'>;

/** Returns the block for datasets that depend on the part; null if the part is unavailable. */
export type WholeBlockReader = (part: BlockPart) => WholeBlock | null;

/**
 * Builds the decoded view of a block once for all datasets. Not cached in a `WeakMap`: its values survive every minor
 * garbage collection, so all transactions and logs of each block were copied and stayed until a full one.
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
