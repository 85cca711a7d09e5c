import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type HistoryLists, readHashesList } from '@chainstead/proof';

const MAINNET = 1;
const NO_LISTS: HistoryLists = { hashes: null, roots: null, summaries: null };

/** Lists before Capella are frozen and ship with the program. @param summariesFile grows with the chain */
export async function readHistoryLists(chainId: number, summariesFile: string | null): Promise<HistoryLists> {
  const summaries = summariesFile === null ? null : await readFile(summariesFile);
  if (chainId !== MAINNET) return { ...NO_LISTS, summaries };
  const [hashes, roots] = await Promise.all([
    readFile(new URL('../../lists/historical-hashes-accumulator.ssz', import.meta.url)),
    readFile(new URL('../../lists/historical-roots.ssz', import.meta.url)),
  ]);
  return { hashes: readHashesList(hashes), roots, summaries };
}

const SUMMARIES_FILE = 'historical-summaries.ssz';

/** A list next to the era files; null: none. */
export async function findSummaries(folder: string): Promise<string | null> {
  return (await readdir(folder)).includes(SUMMARIES_FILE) ? join(folder, SUMMARIES_FILE) : null;
}
