import { type Address, parseAddress } from '@chainstead/core';
import type { StateKind } from '@chainstead/state';
import { z } from '@hono/zod-openapi';

const address = z.string().transform((text): Address => parseAddress(text));

/** Has the contracts asked of a wallet's tokens whose balances can't be told, or not any more. What they say is kept; the answer only says that it is. */
export interface BalanceQuestion {
  readonly wallet: Address;
  /** Null: all that the wallet ever moved, and while its history is incomplete those of imported lists. */
  readonly tokens: readonly Address[] | null;
  /** So old a reading of a token may be whose transfers don't tell its balances. Milliseconds. */
  readonly liveMaxAgeMs: number;
  /** Waits for contracts that take far longer than others, which are left out otherwise. */
  readonly isPatient: boolean;
}

export interface BalancesRead {
  readonly read: number;
  /** Tokens whose contracts could not be read, or took far longer than the others. */
  readonly unread: readonly Address[];
}

export const BALANCES_NOW: StateKind<BalanceQuestion, BalancesRead> = {
  name: 'erc20-balances',
  question: z.object({
    wallet: address,
    tokens: z.array(address).nullable(),
    liveMaxAgeMs: z.number(),
    isPatient: z.boolean(),
  }),
  answer: z.object({ read: z.int(), unread: z.array(address) }),
};

/** What contracts said of a wallet at one block. */
export interface PastBalanceQuestion {
  readonly wallet: Address;
  readonly tokens: readonly Address[];
  readonly block: number;
}

/** Base units as decimal digits, null where nobody could ask; tokens that said nothing (as there was no contract yet) are missing. */
export type PastBalances = readonly { readonly token: Address; readonly balance: string | null }[];

export const BALANCES_THEN: StateKind<PastBalanceQuestion, PastBalances> = {
  name: 'erc20-balances-then',
  question: z.object({ wallet: address, tokens: z.array(address), block: z.int() }),
  answer: z.array(z.object({ token: address, balance: z.string().nullable() })),
};

/** Has contracts checked whose balances are shown. */
export interface TokenCodesQuestion {
  readonly tokens: readonly Address[];
}

/** How many of them are gone, which is kept. */
export const TOKEN_CODES: StateKind<TokenCodesQuestion, { readonly gone: number }> = {
  name: 'erc20-codes',
  question: z.object({ tokens: z.array(address) }),
  answer: z.object({ gone: z.int() }),
};
