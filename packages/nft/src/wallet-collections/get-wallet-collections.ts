import { readSubject, type SubjectColumns, type SubjectCoverage } from '@chainstead/answers';
import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import type { ReadDatabase } from '@chainstead/db';
import { type HeldNow, withAmountsNow } from '../token-state/held-now.ts';
import { type WalletCollectionsQuery, walletCollectionsStatement } from './wallet-collections-statement.ts';

/** A collection of which a wallet holds something. */
export interface WalletCollection {
  readonly address: Address;
  /** Different token ids held, as far as transfers tell. */
  readonly idsHeld: number;
  /** Ids of ERC-1155 of which the wallet gave all that it is known to have received, or more: some of them, while blocks of it are missing. */
  readonly givenIds: readonly string[];
  /** Null while it is not known, as all texts. */
  readonly contractType: 'ERC721' | 'ERC1155' | null;
  readonly name: string | null;
  readonly symbol: string | null;
  readonly possibleSpam: boolean;
  readonly verified: boolean;
  readonly logo: string | null;
  readonly bannerImage: string | null;
  /** Nobody has asked for its metadata yet. */
  readonly isUnread: boolean;
}

/** With what is known of the wallet's history. */
export interface WalletCollectionsPage extends SubjectCoverage {
  /** By contract address; at most `query.limit`. */
  readonly collections: readonly WalletCollection[];
  readonly hasNext: boolean;
}

/**
 * The collections of which a wallet holds something: those of which it gave all that is known where their contracts say that it has some, with as many
 * ids more. What they don't tell in time is left out.
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

/** A page of the collections that a wallet holds, or may hold, with what says how complete it is, in one statement. */
export async function getWalletCollections(
  database: ReadDatabase,
  chain: Chain,
  query: WalletCollectionsQuery,
): Promise<WalletCollectionsPage> {
  const statement = walletCollectionsStatement(chain, query);
  const rows = await database.select<PageRow>(statement.text, statement.values);
  const collections = rows.filter((row): row is SubjectColumns & CollectionColumns => row.token_address !== null);
  return {
    ...readSubject(chain, rows[0]),
    collections: collections.slice(0, query.limit).map(toCollection),
    hasNext: collections.length > query.limit,
  };
}

/** The statement gives one row without a collection where the page is empty. */
type PageRow = SubjectColumns & (CollectionColumns | { token_address: null });

interface CollectionColumns {
  token_address: Address;
  ids_held: number;
  /** Null where no block is missing. */
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
