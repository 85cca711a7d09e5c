import type { Chain } from '@chainstead/chains';
import type { ReadDatabase } from '@chainstead/db';
import { confirmationsOf } from '../newest-indexed.ts';
import type { ProofMark } from '../reading/proof-mark.ts';

/** What an answer is known by. */
interface Known {
  readonly source: 'indexed' | 'node';
  readonly proof: ProofMark;
  readonly finalized: boolean;
}

/** What an answer says of itself, beside what it was asked for. @param number of its block */
export async function readMarks(
  reads: ReadDatabase,
  chain: Chain,
  number: number,
  { source, proof, finalized }: Known,
): Promise<Known & { readonly confirmations: number }> {
  return { source, proof, confirmations: await confirmationsOf(reads, chain, number), finalized };
}
