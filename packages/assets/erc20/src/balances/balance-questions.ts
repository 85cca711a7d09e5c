import { type Address, parseAddress } from '@chainstead/core';
import type { StateKind } from '@chainstead/node-reads';
import { z } from '@hono/zod-openapi';

const address = z.string().transform(parseAddress);
const addresses = z.array(address).readonly();

const nowSchema = z.object({
  wallet: address,
  /** Null: all that the wallet ever moved, and listed ones while its coverage is incomplete. */
  tokens: addresses.nullable(),
  liveMaxAgeMs: z.number(),
  /** Waits for contracts that are much slower than others, instead of skipping them. */
  isPatient: z.boolean(),
});
export type BalanceQuestion = z.infer<typeof nowSchema>;

/** `unread`: contracts that could not be read, or were much slower than others. */
const readSchema = z.object({ read: z.int(), unread: addresses });
export type BalancesRead = z.infer<typeof readSchema>;

/** The balances are stored: the response only confirms the read. */
export const BALANCES_NOW: StateKind<BalanceQuestion, BalancesRead> = {
  name: 'erc20-balances',
  question: nowSchema,
  answer: readSchema,
};

const thenSchema = z.object({ wallet: address, tokens: addresses, block: z.int() });
export type PastBalanceQuestion = z.infer<typeof thenSchema>;

/** Base units; null if no node could be queried. Tokens without a result are missing. */
const pastSchema = z.array(z.object({ token: address, balance: z.string().nullable() })).readonly();
export type PastBalances = z.infer<typeof pastSchema>;

export const BALANCES_THEN: StateKind<PastBalanceQuestion, PastBalances> = {
  name: 'erc20-balances-then',
  question: thenSchema,
  answer: pastSchema,
};

/** `gone`: number of destroyed contracts, which are stored. */
export const TOKEN_CODES: StateKind<Pick<PastBalanceQuestion, 'tokens'>, { readonly gone: number }> = {
  name: 'erc20-codes',
  question: z.object({ tokens: addresses }),
  answer: z.object({ gone: z.int() }),
};

/** Excludes the account's wrapping and unwrapping of the native token. */
export interface Holding {
  readonly account: Address;
  readonly token: Address;
}

/** The balance at the end of `start`, then each change up to the end of `end`. */
export interface BalanceSpan {
  /** -1: before the chain's first block. */
  readonly start: number;
  readonly end: number;
}

/** Many more than the digits of a double. */
const PRECISION_BITS = 128;

/** The nearest double; null if the supply is 0 or below the balance. */
export function percentOfSupply(balance: bigint, supply: bigint): number | null {
  return percentagesOf(supply)(balance);
}

/** Shares one division, which costs several multiplications. */
export function percentagesOf(supply: bigint): (balance: bigint) => number | null {
  if (supply <= 0n) return () => null;
  const bits = PRECISION_BITS + supply.toString(16).length * 4;
  const factor = (100n << BigInt(bits)) / supply;
  const unit = 2 ** -bits;
  return (balance) => (balance > supply ? null : Number(balance * factor) * unit);
}
