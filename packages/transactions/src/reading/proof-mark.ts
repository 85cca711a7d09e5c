import type { ProvenBlock } from '@chainstead/sync';
import { z } from 'zod';

/**
 * How far a response is proven. `receipts+transactions`: both roots of the header were recomputed, and senders follow
 * from signatures if there are any. `none`: the chain's headers commit to nothing that can be recomputed, or a
 * transaction type is unknown.
 */
export const proofMarkSchema = z.enum(['receipts+transactions', 'none']);
export type ProofMark = z.infer<typeof proofMarkSchema>;

/** Returns the mark of a read block; null if the header contradicts the data of every node. */
export function proofMark({ level, parts }: Pick<ProvenBlock, 'level' | 'parts'>): ProofMark | null {
  const ofTransactions = parts.transactions?.level;
  if (ofTransactions === 'unavailable') return null;
  return level === 'receipts' && ofTransactions === 'receipts' ? 'receipts+transactions' : 'none';
}
