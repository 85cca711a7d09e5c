import type { Chain } from '@chainstead/chains';
import type { ReadDatabase } from '@chainstead/db';
import { areTablesSpread } from '@chainstead/pages';
import { type Candidate, textStatement } from './search-statement.ts';

/** Tokens and NFT collections by part of their name or symbol, without figures. Exact matches come first, then imported lists. */
export async function findTokens(
  reads: ReadDatabase,
  chains: readonly Chain[],
  query: string,
  limit: number,
): Promise<readonly Candidate[]> {
  const search = { chains, query, verifiedOnly: false, includesNfts: true };
  const found = await reads.select<Candidate>(textStatement(search, await areTablesSpread(reads)));
  return found.slice(0, limit);
}
