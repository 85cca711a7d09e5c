import { type AddressLabel, type LabelEntry, type PageBlock, readBlocks, readLabels } from '@chainstead/answers';
import type { Address } from '@chainstead/core';

/** What is known of a token. */
export interface TokenMetadata {
  readonly name: string | null;
  readonly symbol: string | null;
  readonly decimals: number | null;
  readonly logo: string | null;
  readonly verified: boolean | null;
  readonly possibleSpam: boolean | null;
}

/** What is shown beside transfers. */
export interface BesideTransfers {
  blockOf(transfer: { readonly block_number: number }): PageBlock;
  tokenOf(token: Address): TokenMetadata;
  labelOf(address: Address): AddressLabel;
}

/** Its columns in a page's only row. */
export interface BesideColumns {
  /** Packed: `blocksOf`. */
  readonly blocks: string | null;
  readonly tokens: readonly TokenEntry[] | null;
  readonly labels: readonly LabelEntry[] | null;
}

/** The address as hexadecimal digits, then name, symbol, decimals, logo, whether verified, whether spam, whether of NFTs. */
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

/** What {@link readBeside} reads of tokens, in SQL, once each, as JSON: see {@link TokenEntry}. Null for none. @param tokens a query for them */
export function tokensOf(tokens: string, chainId: string): string {
  return `(SELECT json_agg(json_build_array(encode(address, 'hex'), name, symbol, decimals, logo, verified, possible_spam, standard IN (${NFT_STANDARDS})))
    FROM tokens WHERE address = ANY (ARRAY(${tokens})) AND chain_id = ${chainId})`;
}

/** Contracts of these are of NFTs, and never appear among ERC-20 transfers. */
export const NFT_STANDARDS = `'erc721', 'erc1155'`;

/** @param transfers all of the page @throws {TornPageError} when one of them came without its block */
export function readBeside(
  row: BesideColumns,
  transfers: readonly { readonly block_number: number }[],
): BesideTransfers {
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
