import { executedTransactions } from './executed-transactions.ts';
import type { ProvenBlock } from './proven-block.ts';
import type { BlockPart, WholeBlock } from './whole-block.ts';

/** What of a block that was read datasets are decoded from. */
export type DecodableBlock = Pick<ProvenBlock, 'header' | 'block' | 'receipts' | 'internalTransactions' | 'parts'>;

const decoded = new WeakMap<DecodableBlock, WholeBlock>();

/** The block for datasets that rest on the part; null where the part is not available. */
export function wholeBlockFor(part: BlockPart, block: DecodableBlock): WholeBlock | null {
  const proof = block.parts[part];
  if (proof === undefined || proof.level === 'unavailable') return null;
  const known = decoded.get(block);
  if (known !== undefined) return known;
  const whole: WholeBlock = {
    header: block.header,
    transactions: executedTransactions(block),
    internalTransactions: block.internalTransactions ?? [],
  };
  decoded.set(block, whole);
  return whole;
}
