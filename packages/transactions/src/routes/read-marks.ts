import type { Chain } from '@chainstead/chains';
import type { ReadDatabase } from '@chainstead/db';
import { confirmationsOf } from '../newest-indexed.ts';
import type { ProofMark } from '../reading/proof-mark.ts';

/** What a node's answer is known by. */
interface ReadFromNode {
  readonly proof: ProofMark;
  readonly finalized: boolean;
}

/** What an answer says of itself, beside what it was asked for. @param number of its block */
export async function readMarks(
  reads: ReadDatabase,
  chain: Chain,
  number: number,
  { proof, finalized }: ReadFromNode,
): Promise<ReadFromNode & { readonly source: 'node'; readonly confirmations: number }> {
  return { source: 'node', proof, confirmations: await confirmationsOf(reads, chain, number), finalized };
}
