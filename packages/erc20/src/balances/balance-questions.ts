import { type Address, parseAddress } from '@chainstead/core';
import type { StateKind } from '@chainstead/node-reads';
import { z } from '@hono/zod-openapi';

const address = z.string().transform((text): Address => parseAddress(text));

/** Reads and stores unknown or outdated balances. The response only confirms the read. */
export interface BalanceQuestion {
  readonly wallet: Address;
  /** Null: all tokens that the wallet ever moved, and those of imported lists while its coverage is incomplete. */
  readonly tokens: readonly Address[] | null;
  /** Maximum age of a read if transfers don't determine balances. Milliseconds. */
  readonly liveMaxAgeMs: number;
  /** Waits for contracts that are much slower than others; otherwise these are skipped. */
  readonly isPatient: boolean;
}

export interface BalancesRead {
  readonly read: number;
  /** Tokens whose contracts could not be read, or were much slower than others. */
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

export interface PastBalanceQuestion {
  readonly wallet: Address;
  readonly tokens: readonly Address[];
  readonly block: number;
}

/** Base units, null if no node could be queried; tokens without a result are missing. */
export type PastBalances = readonly { readonly token: Address; readonly balance: string | null }[];

export const BALANCES_THEN: StateKind<PastBalanceQuestion, PastBalances> = {
  name: 'erc20-balances-then',
  question: z.object({ wallet: address, tokens: z.array(address), block: z.int() }),
  answer: z.array(z.object({ token: address, balance: z.string().nullable() })),
};

/** Checks that the contracts still exist. `gone`: the number of destroyed ones, which are stored. */
export const TOKEN_CODES: StateKind<{ readonly tokens: readonly Address[] }, { readonly gone: number }> = {
  name: 'erc20-codes',
  question: z.object({ tokens: z.array(address) }),
  answer: z.object({ gone: z.int() }),
};
