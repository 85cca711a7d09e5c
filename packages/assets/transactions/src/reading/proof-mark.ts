import type { ProvenBlock } from '@chainstead/sync';
import { z } from 'zod';

/** Both roots were recomputed, and senders recovered; `none`: not provable. */
export const proofMarkSchema = z.enum(['receipts+transactions', 'none']);
export type ProofMark = z.infer<typeof proofMarkSchema>;

/** Null: the header contradicts the data of every node. */
export function proofMark({ level, parts }: Pick<ProvenBlock, 'level' | 'parts'>): ProofMark | null {
  const ofTransactions = parts.transactions?.level;
  if (ofTransactions === 'unavailable') return null;
  return level === 'receipts' && ofTransactions === 'receipts' ? 'receipts+transactions' : 'none';
}
