import type { ProvenBlock } from '@chainstead/sync';
import { z } from 'zod';

/**
 * How far an answer is proven: `receipts+transactions` (both roots of the header were recomputed, and senders follow from signatures where
 * there are any), `none` (the chain's headers commit to nothing that can be recomputed, or a type of transaction is not known).
 */
export const proofMarkSchema = z.enum(['receipts+transactions', 'none']);
export type ProofMark = z.infer<typeof proofMarkSchema>;

/** The mark of a block that was read; null where the header contradicts what every node gives. */
export function proofMark({ level, parts }: Pick<ProvenBlock, 'level' | 'parts'>): ProofMark | null {
  const ofTransactions = parts.transactions?.level;
  if (ofTransactions === 'unavailable') return null;
  return level === 'receipts' && ofTransactions === 'receipts' ? 'receipts+transactions' : 'none';
}
