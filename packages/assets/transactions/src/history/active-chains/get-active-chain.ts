import type { Chain } from '@chainstead/chains';
import type { Address, Hash } from '@chainstead/core';
import { type ReadDatabase, sql } from '@chainstead/db';
import { blocksOf, type Indexed, type PageBlock, readBlocks, readConsistentPage } from '@chainstead/pages';
import { FIRST_PLACE } from '../page/history-query.ts';
import { readPlaces } from '../page/read-places.ts';

export interface EndTransaction {
  readonly block: PageBlock;
  readonly hash: Hash;
}

export interface ActiveChain {
  readonly chain: Chain;
  readonly first: EndTransaction;
  readonly last: EndTransaction;
  readonly indexed: Indexed;
}

/** `ends` null: no known activity. */
export async function getActiveChain(
  database: ReadDatabase,
  chain: Chain,
  wallet: Address,
): Promise<{ readonly ends: Pick<ActiveChain, 'first' | 'last'> | null; readonly indexed: Indexed }> {
  return readConsistentPage(async () => {
    const [oldest, newest] = await Promise.all([
      readPlaces(database, chain, { ...FIRST_PLACE, wallet }),
      readPlaces(database, chain, { ...FIRST_PLACE, wallet, order: 'DESC' }),
    ]);
    const { indexed } = oldest;
    const [[first], [last]] = [oldest.places, newest.places];
    if (first === undefined || last === undefined) return { ends: null, indexed };
    const places = [{ block_number: first.block }, { block_number: last.block }] as const;
    const [row] = await database.select<{ blocks: string | null }>(
      sql`SELECT ${blocksOf(sql`SELECT unnest(${places.map(({ block_number }) => block_number)}::bigint[])`, chain.id)} AS blocks`,
    );
    const blockOf = readBlocks(row?.blocks ?? null, places);
    return {
      ends: {
        first: { block: blockOf(places[0]), hash: first.hash },
        last: { block: blockOf(places[1]), hash: last.hash },
      },
      indexed,
    };
  });
}
