import { type Address, ZERO_ADDRESS } from '@chainstead/core';
import { addressBytes, type ReadDatabase, type Sql, sql } from '@chainstead/db';
import type { ChainInSql } from '@chainstead/pages';

/** As stored: from the contract, imported lists and reviews. */
export interface TokenFacts {
  readonly address: Address;
  readonly name: string | null;
  readonly symbol: string | null;
  readonly decimals: number | null;
  readonly logo: string | null;
  readonly verified: boolean;
  readonly possibleSpam: boolean;
  readonly isNft: boolean;
}

export type TokenBook = (token: Address) => TokenFacts;

export type NativeToken = Pick<TokenFacts, 'address' | 'name' | 'symbol' | 'decimals'>;

/** The address in hexadecimal digits, then the other facts. */
export type TokenEntry = readonly [
  address: string,
  name: string | null,
  symbol: string | null,
  decimals: number | null,
  logo: string | null,
  verified: boolean,
  possibleSpam: boolean,
  isNft: boolean | null,
];

/** For a page's statement: {@link TokenEntry}s, null without one. @param tokens a query for them */
export function tokensOf(tokens: Sql, chainId: ChainInSql): Sql {
  return sql`(SELECT json_agg(json_build_array(encode(address, 'hex'), name, symbol, decimals, logo, verified, possible_spam, standard IN (${NFT_STANDARDS})))
    FROM tokens WHERE address = ANY (ARRAY(${tokens})) AND chain_id = ${chainId})`;
}

/** These contracts never appear among ERC-20 transfers. */
export const NFT_STANDARDS = sql`'erc721', 'erc1155'`;

/** @param native facts of the zero address; null: it is no token */
export function tokenBook(entries: readonly TokenEntry[] | null, native: NativeToken | null = null): TokenBook {
  const known = new Map<Address, TokenFacts>();
  for (const [digits, name, symbol, decimals, logo, verified, possibleSpam, isNft] of entries ?? []) {
    const address: Address = `0x${digits}` as Address;
    known.set(address, { address, name, symbol, decimals, logo, verified, possibleSpam, isNft: isNft === true });
  }
  if (native !== null) known.set(ZERO_ADDRESS, { ...UNKNOWN, ...native });
  return (address) => known.get(address) ?? { address, ...UNKNOWN };
}

const UNKNOWN = {
  ...{ name: null, symbol: null, decimals: null, logo: null },
  ...{ verified: false, possibleSpam: false, isNft: false },
};

export async function readTokenBook(
  database: ReadDatabase,
  { id }: { readonly id: number },
  tokens: Iterable<Address>,
  native: NativeToken | null = null,
): Promise<TokenBook> {
  const wanted = sql`SELECT unnest(${[...new Set(tokens)].map(addressBytes)}::bytea[])`;
  const [row] = await database.select<{ readonly tokens: readonly TokenEntry[] | null }>(
    sql`SELECT ${tokensOf(wanted, sql`${id}::bigint`)} AS tokens`,
  );
  return tokenBook(row?.tokens ?? null, native);
}
