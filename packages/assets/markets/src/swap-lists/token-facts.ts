import type { Chain } from '@chainstead/chains';
import { type Address, decimalAmount, ZERO_ADDRESS } from '@chainstead/core';
import { addressBytes, type ReadDatabase, sql } from '@chainstead/db';
import { wrappedNativeOf } from '../anchors/anchors-of-chain.ts';
import { type TokenEntry, tokensOf } from './swaps-statement.ts';

export interface TokenFacts {
  /** The native token has the address of the wrapped one: each token is a contract. */
  readonly address: Address;
  readonly name: string | null;
  readonly symbol: string | null;
  readonly logo: string | null;
  readonly decimals: number | null;
}

export function tokenBook(entries: readonly TokenEntry[], chain: Chain): (token: Address) => TokenFacts {
  const known = new Map(
    entries.map(([address, name, symbol, decimals, logo]) => [`0x${address}`, { name, symbol, decimals, logo }]),
  );
  const { name, symbol, decimals } = chain.native;
  const native = { address: wrappedNativeOf(chain) ?? ZERO_ADDRESS, name, symbol, decimals, logo: null };
  return (address) =>
    address === ZERO_ADDRESS
      ? native
      : { address, ...(known.get(address) ?? { name: null, symbol: null, decimals: null, logo: null }) };
}

export async function readTokenBook(
  database: ReadDatabase,
  chain: Chain,
  tokens: Iterable<Address>,
): Promise<(token: Address) => TokenFacts> {
  const [row] = await database.select<{ readonly tokens: readonly TokenEntry[] | null }>(
    sql`SELECT ${tokensOf(sql`SELECT unnest(${[...new Set(tokens)].map(addressBytes)}::bytea[])`, sql`${chain.id}::bigint`)} AS tokens`,
  );
  return tokenBook(row?.tokens ?? [], chain);
}

/** Unsigned. `amount`: base units. Null: unknown amount or decimals. */
export function wholeTokens(amount: string | null, decimals: number | null): string | null {
  return amount === null || decimals === null ? null : decimalAmount(amount.replace('-', ''), decimals);
}

/** `BASE/QUOTE`; null if a symbol is unknown. */
export function pairLabel(base: TokenFacts | null, quote: TokenFacts | null): string | null {
  const [left, right] = [base?.symbol ?? null, quote?.symbol ?? null];
  return left === null || right === null ? null : `${left}/${right}`;
}
