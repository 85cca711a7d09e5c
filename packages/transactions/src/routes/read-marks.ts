import type { Chain } from '@chainstead/chains';
import type { ReadDatabase } from '@chainstead/db';
import { committedBlock } from '@chainstead/node-reads';
import type { ProofMark } from '../reading/proof-mark.ts';

/** The response's coverage facts. */
interface Known {
  readonly source: 'indexed' | 'node';
  readonly proof: ProofMark;
  readonly finalized: boolean;
}

/** Returns the marks of a response, in addition to its data. @param number of its block */
export async function readMarks(
  reads: ReadDatabase,
  chain: Chain,
  number: number,
  { source, proof, finalized }: Known,
): Promise<Known & { readonly confirmations: number }> {
  return { source, proof, confirmations: await confirmationsOf(reads, chain, number), finalized };
}

/** Returns the distance from a block to the newest indexed one; 0 too for one that is newer. */
async function confirmationsOf(database: ReadDatabase, chain: Pick<Chain, 'id'>, block: number): Promise<number> {
  const newest = await committedBlock(database, chain);
  return newest === null ? 0 : Math.max(0, newest.number - block);
}
