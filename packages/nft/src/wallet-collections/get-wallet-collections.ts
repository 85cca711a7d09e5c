import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import { readSubject, type SubjectColumns, type SubjectCoverage } from '@chainstead/data-api';
import type { ReadDatabase } from '@chainstead/db';
import { type HeldNow, withAmountsNow } from '../token-state/held-now.ts';
import { type WalletCollectionsQuery, walletCollectionsStatement } from './wallet-collections-statement.ts';

export interface WalletCollection {
  readonly address: Address;
  /** Distinct token ids held, as far as transfers show. */
  readonly idsHeld: number;
  /**
   * Some of the ERC-1155 ids of which the wallet sent at least as much as it is known to have received, while blocks of
   * it are missing.
   */
  readonly givenIds: readonly string[];
  /** Null while unknown, like all texts. */
  readonly contractType: 'ERC721' | 'ERC1155' | null;
  readonly name: string | null;
  readonly symbol: string | null;
  readonly possibleSpam: boolean;
  readonly verified: boolean;
  readonly logo: string | null;
  readonly bannerImage: string | null;
  /** Its metadata was never requested. */
  readonly isUnread: boolean;
}

/** A page of collections, with the coverage of the wallet's history. */
export interface WalletCollectionsPage extends SubjectCoverage {
  /** By contract address; at most `query.limit`. */
  readonly collections: readonly WalletCollection[];
  readonly hasNext: boolean;
}

/**
 * Returns the collections that a wallet holds. Collections whose known amounts it sent away are included if their
 * contracts report a balance, with the number of such ids. Those without a result in time are left out.
 */
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
    .map((known) => ({ ...known, idsHeld: known.idsHeld + (held.get(known.address)?.length ?? 0) }))
    .filter(({ idsHeld }) => idsHeld > 0);
}

/** Returns a page of the collections that a wallet holds, or may hold, with its completeness, in one statement. */
export async function getWalletCollections(
  database: ReadDatabase,
  chain: Chain,
  query: WalletCollectionsQuery,
): Promise<WalletCollectionsPage> {
  const rows = await database.select<PageRow>(walletCollectionsStatement(chain, query));
  const collections = rows.filter((row): row is SubjectColumns & CollectionColumns => row.token_address !== null);
  return {
    ...readSubject(chain, rows[0]),
    collections: collections.slice(0, query.limit).map(toCollection),
    hasNext: collections.length > query.limit,
  };
}

/** An empty page still returns one row, without a collection. */
type PageRow = SubjectColumns & (CollectionColumns | { token_address: null });

interface CollectionColumns {
  token_address: Address;
  ids_held: number;
  /** Null if no block is missing. */
  given_ids: readonly string[] | null;
  contract_type: 'ERC721' | 'ERC1155' | null;
  name: string | null;
  symbol: string | null;
  possible_spam: boolean;
  verified: boolean;
  collection_logo: string | null;
  collection_banner_image: string | null;
  is_unread: boolean;
}

function toCollection(row: CollectionColumns): WalletCollection {
  return {
    address: row.token_address,
    idsHeld: row.ids_held,
    givenIds: row.given_ids ?? [],
    contractType: row.contract_type,
    name: row.name,
    symbol: row.symbol,
    possibleSpam: row.possible_spam,
    verified: row.verified,
    logo: row.collection_logo,
    bannerImage: row.collection_banner_image,
    isUnread: row.is_unread,
  };
}
