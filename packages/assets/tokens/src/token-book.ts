import { type Address, ZERO_ADDRESS } from '@chainstead/core';
import { addressBytes, type ReadDatabase, type Sql, sql } from '@chainstead/db';
import { boolean, hex, int4, packedRows, type RowOf, textOrNull } from '@chainstead/db/packed-rows';
import type { ChainInSql } from '@chainstead/pages';

/** These contracts never appear among ERC-20 transfers. */
export const NFT_STANDARDS = sql`'erc721', 'erc1155'`;

const TOKENS = packedRows({
  address: hex<Address>('address', 20),
  name: textOrNull('name'),
  symbol: textOrNull('symbol'),
  decimals: { ...int4('coalesce(decimals, -1)'), read: decimalsOrNull },
  logo: textOrNull('logo'),
  verified: boolean('verified'),
  possibleSpam: boolean('possible_spam'),
  isNft: boolean(sql`coalesce(standard IN (${NFT_STANDARDS}), false)`),
});

/** As stored: from the contract, imported lists and reviews. */
export type TokenFacts = RowOf<typeof TOKENS>;

export type TokenBook = (token: Address) => TokenFacts;

export type NativeToken = Pick<TokenFacts, 'address' | 'name' | 'symbol' | 'decimals'>;

/** A value of the column {@link tokensOf}. */
export type PackedTokens = readonly [bytes: string | null, texts: readonly (readonly string[])[]];

/** For a page's statement. Tokens as JSON rows take twice as long. @param tokens a query for them */
export function tokensOf(tokens: Sql, chainId: ChainInSql): Sql {
  return sql`(SELECT json_build_array(packed_bytes, packed_json) FROM (SELECT ${TOKENS.selectAsJson}
    FROM tokens WHERE address = ANY (ARRAY(${tokens})) AND chain_id = ${chainId}) AS found)`;
}

export function readTokens(packed: PackedTokens | null): readonly TokenFacts[] {
  const [packedBytes, packedJson] = packed ?? [null, null];
  const tokens = TOKENS.read({ packedBytes, packedTexts: null, packedJson });
  if (tokens === null) throw new RangeError('The texts of tokens differ from them in number');
  return tokens;
}

/** Later facts of a token replace earlier ones. @param native facts of the zero address; null: it is no token */
export function tokenBook(tokens: readonly TokenFacts[], native: NativeToken | null = null): TokenBook {
  const known = new Map<Address, TokenFacts>();
  for (const token of tokens) known.set(token.address, token);
  if (native !== null) known.set(ZERO_ADDRESS, { ...UNKNOWN_TOKEN, ...native });
  return (address) => known.get(address) ?? { address, ...UNKNOWN_TOKEN };
}

export const UNKNOWN_TOKEN = {
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
  const [row] = await database.select<{ readonly tokens: PackedTokens }>(
    sql`SELECT ${tokensOf(wanted, sql`${id}::bigint`)} AS tokens`,
  );
  return tokenBook(readTokens(row?.tokens ?? null), native);
}

function decimalsOrNull(bytes: Buffer, at: number): number | null {
  const decimals = bytes.readInt32BE(at);
  return decimals < 0 ? null : decimals;
}
