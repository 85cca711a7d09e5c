import type { Chain } from '@chainstead/chains';
import { type Address, ZERO_ADDRESS } from '@chainstead/core';
import { addressBytes, hexText, type ReadDatabase, sql } from '@chainstead/db';
import {
  collectionFacts,
  type NormalizedMetadata,
  normalizeMetadata,
  readDocument,
} from '@chainstead/nft/requests';
import { type AddressLabel, getLabels } from '@chainstead/pages';
import { readTokenBook } from '@chainstead/tokens/token-book';

interface NamedCollection {
  readonly name: string | null;
  readonly symbol: string | null;
  readonly logo: string | null;
  readonly banner: string | null;
  readonly contractType: 'ERC721' | 'ERC1155' | null;
  readonly verified: boolean;
  readonly possibleSpam: boolean;
}

export type RelatedToHistory = Awaited<ReturnType<typeof readRelated>>;

export interface NamedOnPage {
  readonly tokens: ReadonlySet<Address>;
  readonly collections: ReadonlySet<Address>;
  readonly accounts: ReadonlySet<Address>;
  readonly nfts: readonly { readonly token: Address; readonly tokenId: string }[];
}

export async function readRelated(database: ReadDatabase, chain: Chain, named: NamedOnPage) {
  const [tokenOf, collections, labelOf, metadata] = await Promise.all([
    readTokenBook(database, chain, named.tokens),
    readCollections(database, chain, named.collections),
    getLabels(database, chain, named.accounts),
    readMetadata(database, chain, named.nfts),
  ]);
  return {
    tokenOf,
    collectionOf: (address: Address): NamedCollection => collections.get(address) ?? UNKNOWN_COLLECTION,
    labelOf: (address: Address) => (address === ZERO_ADDRESS ? NO_LABEL : labelOf(address)),
    metadataOf: (token: Address, tokenId: string) => metadata.get(`${token} ${tokenId}`) ?? null,
  };
}

const UNKNOWN_COLLECTION: NamedCollection = {
  ...{ name: null, symbol: null, logo: null, banner: null, contractType: null },
  ...{ verified: false, possibleSpam: false },
};
const NO_LABEL: AddressLabel = { label: null, entity: null, entityLogo: null };

async function readCollections(database: ReadDatabase, chain: Chain, addresses: ReadonlySet<Address>) {
  if (addresses.size === 0) return new Map<Address, NamedCollection>();
  const rows = await database.select<NamedCollection & { readonly address: Address }>(
    sql`SELECT ${hexText('contract.address')} AS address, shown.name, shown.symbol, shown.collection_logo AS logo,
       shown.collection_banner_image AS banner, shown.contract_type, shown.verified,
       shown.possible_spam
     FROM unnest(${bytesOf(addresses)}::bytea[]) AS contract(address) CROSS JOIN LATERAL ${collectionFacts('contract.address', sql`${chain.id}`)} AS shown`,
  );
  return new Map(rows.map(({ address, ...collection }) => [address, collection]));
}

async function readMetadata(database: ReadDatabase, chain: Chain, nfts: NamedOnPage['nfts']) {
  if (nfts.length === 0) return new Map<string, NormalizedMetadata>();
  const rows = await database.select<{ key: string; metadata: string | null }>(
    sql`SELECT ${hexText('requested.token')} || ' ' || requested.token_id AS key, known.metadata
     FROM (SELECT DISTINCT token, token_id FROM unnest(${nfts.map(({ token }) => addressBytes(token))}::bytea[], ${nfts.map(({ tokenId }) => tokenId)}::numeric[]) AS given(token, token_id)) AS requested
     LEFT JOIN nft_token_metadata AS known
       ON known.token_address = requested.token AND known.chain_id = ${chain.id} AND known.token_id = requested.token_id`,
  );
  return new Map(
    rows.map(({ key, metadata }) => [key, normalizeMetadata(readDocument(metadata)?.fields ?? null)]),
  );
}

function bytesOf(addresses: ReadonlySet<Address>): readonly Buffer[] {
  return [...addresses].map(addressBytes);
}
