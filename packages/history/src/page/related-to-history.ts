import type { Chain } from '@chainstead/chains';
import { type Address, ZERO_ADDRESS } from '@chainstead/core';
import { type AddressLabel, getLabels } from '@chainstead/data-api';
import { addressBytes, hexText, type ReadDatabase, sql } from '@chainstead/db';
import { collectionFacts, type NormalizedMetadata, normalizeMetadata, readDocument } from '@chainstead/nft';

/** The stored facts of a token contract. */
export interface KnownToken {
  readonly name: string | null;
  readonly symbol: string | null;
  readonly decimals: number | null;
  readonly logo: string | null;
  readonly isVerified: boolean;
  readonly isSpam: boolean;
  /** Whether its transfers are of NFTs, whatever their format. */
  readonly isNft: boolean;
}

/** The stored facts of an NFT contract. */
export interface KnownCollection {
  readonly name: string | null;
  readonly symbol: string | null;
  readonly logo: string | null;
  readonly banner: string | null;
  readonly contractType: 'ERC721' | 'ERC1155' | null;
  readonly isVerified: boolean;
  readonly isSpam: boolean;
}

/** Data related to a page's transactions. */
export interface RelatedToHistory {
  tokenOf(address: Address): KnownToken;
  collectionOf(address: Address): KnownCollection;
  labelOf(address: Address): AddressLabel;
  /** Null if it was not requested. */
  metadataOf(token: Address, tokenId: string): NormalizedMetadata | null;
}

/** The addresses and NFTs of a page. */
export interface NamedOnPage {
  readonly tokens: ReadonlySet<Address>;
  readonly collections: ReadonlySet<Address>;
  readonly accounts: ReadonlySet<Address>;
  /** NFTs whose metadata is requested. */
  readonly nfts: readonly { readonly token: Address; readonly tokenId: string }[];
}

/** Reads the stored facts of all addresses and NFTs of a page. */
export async function readRelated(database: ReadDatabase, chain: Chain, named: NamedOnPage): Promise<RelatedToHistory> {
  const [tokens, collections, labelOf, metadata] = await Promise.all([
    readTokens(database, chain, named.tokens),
    readCollections(database, chain, named.collections),
    getLabels(database, chain, named.accounts),
    readMetadata(database, chain, named.nfts),
  ]);
  return {
    tokenOf: (address) => tokens.get(address) ?? UNKNOWN_TOKEN,
    collectionOf: (address) => collections.get(address) ?? UNKNOWN_COLLECTION,
    // The zero address has no label.
    labelOf: (address) => (address === ZERO_ADDRESS ? NO_LABEL : labelOf(address)),
    metadataOf: (token, tokenId) => metadata.get(`${token} ${tokenId}`) ?? null,
  };
}

const UNKNOWN_TOKEN: KnownToken = {
  ...{ name: null, symbol: null, decimals: null, logo: null },
  ...{ isVerified: false, isSpam: false, isNft: false },
};
const UNKNOWN_COLLECTION: KnownCollection = {
  ...{ name: null, symbol: null, logo: null, banner: null, contractType: null },
  ...{ isVerified: false, isSpam: false },
};
const NO_LABEL: AddressLabel = { label: null, entity: null, entityLogo: null };

async function readTokens(database: ReadDatabase, chain: Chain, addresses: ReadonlySet<Address>) {
  const rows = await database.select<KnownToken & { readonly address: Address }>(
    sql`SELECT ${hexText('address')} AS address, name, symbol, decimals, logo, verified AS "isVerified", possible_spam AS "isSpam",
       coalesce(standard IN ('erc721', 'erc1155'), false) AS "isNft"
     FROM tokens WHERE address = ANY (${bytesOf(addresses)}::bytea[]) AND chain_id = ${chain.id}`,
  );
  return new Map(rows.map(({ address, ...token }) => [address, token]));
}

async function readCollections(database: ReadDatabase, chain: Chain, addresses: ReadonlySet<Address>) {
  if (addresses.size === 0) return new Map<Address, KnownCollection>();
  const rows = await database.select<KnownCollection & { readonly address: Address }>(
    sql`SELECT ${hexText('contract.address')} AS address, shown.name, shown.symbol, shown.collection_logo AS logo,
       shown.collection_banner_image AS banner, shown.contract_type AS "contractType", shown.verified AS "isVerified",
       shown.possible_spam AS "isSpam"
     FROM unnest(${bytesOf(addresses)}::bytea[]) AS contract(address) CROSS JOIN LATERAL ${collectionFacts('contract.address', sql`${chain.id}`)} AS shown`,
  );
  return new Map(rows.map(({ address, ...collection }) => [address, collection]));
}

async function readMetadata(database: ReadDatabase, chain: Chain, nfts: NamedOnPage['nfts']) {
  if (nfts.length === 0) return new Map<string, NormalizedMetadata>();
  const rows = await database.select<{ token: Address; token_id: string; metadata: string | null }>(
    sql`SELECT ${hexText('requested.token')} AS token, requested.token_id::text, known.metadata
     FROM (SELECT DISTINCT token, token_id FROM unnest(${nfts.map(({ token }) => addressBytes(token))}::bytea[], ${nfts.map(({ tokenId }) => tokenId)}::numeric[]) AS given(token, token_id)) AS requested
     LEFT JOIN nft_token_metadata AS known
       ON known.token_address = requested.token AND known.chain_id = ${chain.id} AND known.token_id = requested.token_id`,
  );
  return new Map(
    rows.map(({ token, token_id, metadata }) => [
      `${token} ${token_id}`,
      normalizeMetadata(readDocument(metadata)?.fields ?? null),
    ]),
  );
}

function bytesOf(addresses: ReadonlySet<Address>): readonly Buffer[] {
  return [...addresses].map(addressBytes);
}
