import type { Chain } from '@chainstead/chains';
import type { ReadDatabase } from '@chainstead/db';
import { committedBlock } from '@chainstead/node-reads/requests';
import type { ProofMark } from '../reading/proof-mark.ts';

interface Marks {
  readonly source: 'indexed' | 'node';
  readonly proof: ProofMark;
  readonly finalized: boolean;
}

export async function readMarks(
  reads: ReadDatabase,
  chain: Chain,
  number: number,
  { source, proof, finalized }: Marks,
): Promise<Marks & { readonly confirmations: number }> {
  const newest = await committedBlock(reads, chain);
  // A block may be newer than the newest indexed one.
  const confirmations = newest === null ? 0 : Math.max(0, newest.number - number);
  return { source, proof, confirmations, finalized };
}
