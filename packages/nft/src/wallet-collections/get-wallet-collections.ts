import { readSubject, type SubjectColumns, type SubjectCoverage } from '@chainstead/answers';
import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import type { ReadDatabase } from '@chainstead/db';
import { type WalletCollectionsQuery, walletCollectionsStatement } from './wallet-collections-statement.ts';

/** A collection of which a wallet holds something. */
export interface WalletCollection {
  readonly address: Address;
  /** Different token ids held. */
  readonly idsHeld: number;
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

/** A page of the collections that a wallet holds, with what says how complete it is, in one statement. */
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
