import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import type { ReadDatabase } from '@chainstead/db';
import { readSubject, type SubjectColumns } from '@chainstead/pages';
import { type HeldNow, withAmountsNow } from '../token-state/held-readers.ts';
import { type WalletCollectionsQuery, walletCollectionsStatement } from './wallet-collections-statement.ts';

export interface WalletCollection {
  readonly address: Address;
  readonly idsHeld: number;
  /** ERC-1155 ids given away as far as known, while blocks are missing. */
  readonly givenIds: readonly string[];
  readonly contractType: 'ERC721' | 'ERC1155' | null;
  readonly name: string | null;
  readonly symbol: string | null;
  readonly possibleSpam: boolean;
  readonly verified: boolean;
  readonly logo: string | null;
  readonly bannerImage: string | null;
  readonly isUnread: boolean;
}

/** Given away as far as known: included if the contract reports a balance in time. */
export async function heldCollections(
  heldNow: HeldNow,
  chain: Chain,
  wallet: Address,
  collections: readonly WalletCollection[],
): Promise<readonly WalletCollection[]> {
  const given = collections.flatMap(({ address, givenIds }) =>
    givenIds.map((tokenId) => ({ address, tokenId, owner: wallet, amount: null, blockNumber: null })),
  );
  const held = Map.groupBy(await withAmountsNow(heldNow, chain, given), ({ address }) => address);
  return collections
    .map((stored) => ({ ...stored, idsHeld: stored.idsHeld + (held.get(stored.address)?.length ?? 0) }))
    .filter(({ idsHeld }) => idsHeld > 0);
}

export async function getWalletCollections(database: ReadDatabase, chain: Chain, query: WalletCollectionsQuery) {
  const rows = await database.select<SubjectColumns & { readonly collection: WalletCollection | null }>(
    walletCollectionsStatement(chain, query),
  );
  const collections = rows.map(({ collection }) => collection).filter((collection) => collection !== null);
  return {
    ...readSubject(chain, rows[0]),
    collections: collections.slice(0, query.limit),
    hasNext: collections.length > query.limit,
  };
}
