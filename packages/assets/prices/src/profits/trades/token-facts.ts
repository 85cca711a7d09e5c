import type { Chain } from '@chainstead/chains';
import { type Address, ZERO_ADDRESS } from '@chainstead/core';
import { addressBytes, hexText, type ReadDatabase, sql } from '@chainstead/db';

export interface TradedTokenFacts {
  readonly name: string | null;
  readonly symbol: string | null;
  readonly decimals: number | null;
  readonly logo: string | null;
  readonly possibleSpam: boolean;
}

export type FactsOf = (token: Address) => TradedTokenFacts;

/** The zero address is the native token. */
export async function readTokenFacts(
  database: ReadDatabase,
  chain: Chain,
  tokens: readonly Address[],
): Promise<FactsOf> {
  const rows = await database.select<TradedTokenFacts & { readonly address: Address }>(
    sql`SELECT ${hexText('address')} AS address, name, symbol, decimals, logo, possible_spam AS "possibleSpam"
     FROM tokens WHERE address = ANY (${tokens.map(addressBytes)}::bytea[]) AND chain_id = ${chain.id}::bigint`,
  );
  const known = new Map(rows.map(({ address, ...facts }) => [address, facts]));
  const { name, symbol, decimals } = chain.native;
  known.set(ZERO_ADDRESS, { name, symbol, decimals, logo: null, possibleSpam: false });
  return (token) => known.get(token) ?? UNKNOWN;
}

const UNKNOWN: TradedTokenFacts = { name: null, symbol: null, decimals: null, logo: null, possibleSpam: false };
