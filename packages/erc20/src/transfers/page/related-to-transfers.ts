import type { Address } from '@chainstead/core';
import {
  type AddressLabel,
  type ChainInSql,
  type LabelEntry,
  type PageBlock,
  readBlocks,
  readLabels,
} from '@chainstead/data-api';
import { type Sql, sql } from '@chainstead/db';

/** The known data of a token. */
export interface TokenMetadata {
  readonly name: string | null;
  readonly symbol: string | null;
  readonly decimals: number | null;
  readonly logo: string | null;
  readonly verified: boolean | null;
  readonly possibleSpam: boolean | null;
}

/** Data shown next to transfers. */
export interface RelatedToTransfers {
  blockOf(transfer: { readonly block_number: number }): PageBlock;
  tokenOf(token: Address): TokenMetadata;
  labelOf(address: Address): AddressLabel;
}

/** Related columns in a page's only row. */
export interface RelatedColumns {
  /** Packed: `blocksOf`. */
  readonly blocks: string | null;
  readonly tokens: readonly TokenEntry[] | null;
  readonly labels: readonly LabelEntry[] | null;
}

/**
 * Address as hexadecimal digits, name, symbol, decimals, logo, whether verified, whether spam, whether an NFT contract.
 */
export type TokenEntry = readonly [
  string,
  string | null,
  string | null,
  number | null,
  string | null,
  boolean | null,
  boolean | null,
  boolean | null,
];

/**
 * Returns the token data that {@link readRelated} parses, each token once, as JSON: see {@link TokenEntry}. Null for
 * none.
 * @param tokens a query for them
 */
export function tokensOf(tokens: Sql, chainId: ChainInSql): Sql {
  return sql`(SELECT json_agg(json_build_array(encode(address, 'hex'), name, symbol, decimals, logo, verified, possible_spam, standard IN (${NFT_STANDARDS})))
    FROM tokens WHERE address = ANY (ARRAY(${tokens})) AND chain_id = ${chainId})`;
}

/** Standards of NFT contracts, which never appear among ERC-20 transfers. */
export const NFT_STANDARDS = sql`'erc721', 'erc1155'`;

/** @param transfers all of the page @throws {InconsistentPageError} if one of them lacks its block */
export function readRelated(
  row: RelatedColumns,
  transfers: readonly { readonly block_number: number }[],
): RelatedToTransfers {
  const tokens = new Map<string, TokenMetadata>();
  for (const [address, name, symbol, decimals, logo, verified, possibleSpam] of row.tokens ?? [])
    tokens.set(`0x${address}`, { name, symbol, decimals, logo, verified, possibleSpam });
  return {
    blockOf: readBlocks(row.blocks, transfers),
    tokenOf: (token) => tokens.get(token) ?? UNKNOWN_TOKEN,
    labelOf: readLabels(row.labels),
  };
}

const UNKNOWN_TOKEN: TokenMetadata = {
  name: null,
  symbol: null,
  decimals: null,
  logo: null,
  verified: null,
  possibleSpam: null,
};
