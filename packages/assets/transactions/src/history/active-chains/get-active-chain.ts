import type { Chain } from '@chainstead/chains';
import type { Address, Hash } from '@chainstead/core';
import type { ReadDatabase } from '@chainstead/db';
import { type Indexed, type PageBlock, readConsistentPage } from '@chainstead/pages';
import { FIRST_PLACE } from '../page/history-query.ts';
import { readPlaces } from '../page/places-page.ts';

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
    return {
      ends: {
        first: { block: oldest.blockOf({ block_number: first.block }), hash: first.hash },
        last: { block: newest.blockOf({ block_number: last.block }), hash: last.hash },
      },
      indexed,
    };
  });
}
