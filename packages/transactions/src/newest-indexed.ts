import type { Chain } from '@chainstead/chains';
import type { ReadDatabase } from '@chainstead/db';
import { committedBlock } from '@chainstead/state';

/** How many blocks the newest indexed one lies above a block; 0 too for one that is newer. */
export async function confirmationsOf(
  database: ReadDatabase,
  chain: Pick<Chain, 'id'>,
  block: number,
): Promise<number> {
  const newest = await committedBlock(database, chain);
  return newest === null ? 0 : Math.max(0, newest.number - block);
}
