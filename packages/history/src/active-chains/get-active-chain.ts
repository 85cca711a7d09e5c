import { blocksOf, type Indexed, type PageBlock, readBlocks, readUntorn } from '@chainstead/answers';
import type { Chain } from '@chainstead/chains';
import type { Address, Hash } from '@chainstead/core';
import type { ReadDatabase } from '@chainstead/db';
import { readPlaces } from '../page/read-places.ts';

/** A transaction of a wallet, in its block. */
export interface EndTransaction {
  readonly block: PageBlock;
  readonly hash: Hash;
}

/** What a wallet did on a chain first and last. */
export interface ActiveChain {
  readonly chain: Chain;
  readonly first: EndTransaction;
  readonly last: EndTransaction;
  /** The first is the first of all only where this is complete. */
  readonly indexed: Indexed;
}

/** Finds the first and the last transaction of a wallet's history; null where none is known. */
export async function getActiveChain(
  database: ReadDatabase,
  chain: Chain,
  wallet: Address,
): Promise<ActiveChain | null> {
  return readUntorn(async () => {
    const [oldest, newest] = await Promise.all([
      readPlaces(database, chain, { ...ANYTHING, wallet, order: 'ASC' }),
      readPlaces(database, chain, { ...ANYTHING, wallet, order: 'DESC' }),
    ]);
    const [[first], [last]] = [oldest.places, newest.places];
    if (first === undefined || last === undefined) return null;
    const ends = [{ block_number: first.blockNumber }, { block_number: last.blockNumber }] as const;
    const [row] = await database.select<{ blocks: string | null }>(
      `SELECT ${blocksOf('SELECT unnest($2::bigint[])', '$1')} AS blocks`,
      [chain.id, ends.map(({ block_number }) => block_number)],
    );
    const blockOf = readBlocks(row?.blocks ?? null, ends);
    return {
      chain,
      first: { block: blockOf(ends[0]), hash: first.hash },
      last: { block: blockOf(ends[1]), hash: last.hash },
      indexed: oldest.indexed,
    };
  });
}

/** One more than the limit is read: the first one. */
const ANYTHING = {
  ...{ limit: 0, after: null, pinnedBlock: null },
  ...{ fromBlock: null, toBlock: null, fromDate: null, toDate: null },
};
