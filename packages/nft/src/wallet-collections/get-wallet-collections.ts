import type { Indexed } from '@chainstead/answers';
import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import type { Database } from '@chainstead/db';
import type { HistoryStatus } from '@chainstead/sync';
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

export interface WalletCollectionsPage {
  /** By contract address; at most `query.limit`. */
  readonly collections: readonly WalletCollection[];
  readonly hasNext: boolean;
  /** Of this wallet; complete when nothing from the chain's first block to its newest indexed one is missing. */
  readonly indexed: Indexed;
  /** Whether what wallets hold counts every transfer that is indexed: not while it is built anew. */
  readonly isBuilt: boolean;
  /** Whether no block of the wallet's history is missing. */
  readonly isCovered: boolean;
  /** Where the reading of the wallet's own history stands; null where it was never asked for. */
  readonly history: {
    readonly status: HistoryStatus;
    /** All that can be read is; what is missing may still be reorganised. */
    readonly waits: boolean;
    readonly callsMade: number;
    readonly callsEstimated: number | null;
    readonly message: string | null;
  } | null;
}

/** A page of the collections that a wallet holds, with what says how complete it is, in one statement. */
export async function getWalletCollections(
  database: Database,
  chain: Chain,
  query: WalletCollectionsQuery,
): Promise<WalletCollectionsPage> {
  const statement = walletCollectionsStatement(chain, query);
  const rows = await database.query<PageRow>(statement.text, statement.values);
  const collections = rows.filter((row): row is CommonColumns & CollectionColumns => row.token_address !== null);
  const [first] = rows;
  const span = { fromBlock: first?.indexed_from ?? null, toBlock: first?.indexed_to ?? null };
  // Without a block of its own the chain is not indexed at all: how far it reaches nobody knows.
  const isCovered =
    first !== undefined && first.chain_to !== null && span.fromBlock !== null && span.fromBlock <= chain.firstBlock;
  const isBuilt = first?.is_built ?? false;
  return {
    collections: collections.slice(0, query.limit).map(toCollection),
    hasNext: collections.length > query.limit,
    indexed: { ...span, complete: isCovered && isBuilt },
    isBuilt,
    isCovered,
    history:
      first === undefined || first.status === null
        ? null
        : {
            status: first.status,
            waits: first.waits ?? false,
            callsMade: first.calls_made ?? 0,
            callsEstimated: first.calls_estimated,
            message: first.error_message,
          },
  };
}

/** The statement gives one row without a collection where the page is empty. */
type PageRow = CommonColumns & (CollectionColumns | { token_address: null });

interface CommonColumns {
  indexed_from: number | null;
  indexed_to: number | null;
  chain_to: number | null;
  is_built: boolean;
  status: HistoryStatus | null;
  waits: boolean | null;
  calls_made: number | null;
  calls_estimated: number | null;
  error_message: string | null;
}

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
