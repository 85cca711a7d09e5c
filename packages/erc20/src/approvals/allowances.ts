import { type Address, type Hash, type Hex, isAddress } from '@chainstead/core';
import { type StateKind, type StateReader, stateAt } from '@chainstead/node-reads';
import { z } from 'zod';
import { balanceOfCall, readBalance } from '../calls/balance-of.ts';

const HASH = /^0x[0-9a-f]{64}$/;
const address = z.custom<Address>((text) => typeof text === 'string' && isAddress(text));
const amounts = z.array(z.string().regex(/^\d+$/).nullable());

/** Token responses about approvals at a block, in the given order. */
export interface AllowancesQuestion {
  readonly block: { readonly number: number; readonly hash: Hash };
  readonly wallet: Address;
  readonly approvals: readonly { readonly token: Address; readonly spender: Address }[];
}

/** Base units, decimal digits; null if a token returns none. */
export interface Allowances {
  readonly allowances: readonly (string | null)[];
  /** The wallet's balances of the same tokens. */
  readonly balances: readonly (string | null)[];
}

export const allowancesKind: StateKind<AllowancesQuestion, Allowances> = {
  name: 'erc20-allowances',
  question: z.object({
    block: z.object({
      number: z.int().min(0),
      hash: z.custom<Hash>((text) => typeof text === 'string' && HASH.test(text)),
    }),
    wallet: address,
    approvals: z.array(z.object({ token: address, spender: address })),
  }),
  answer: z.object({ allowances: amounts, balances: amounts }),
};

/**
 * Reads `allowance(owner, spender)` and `balanceOf(owner)` (EIP-20) for a page of approvals. Many tokens reduce an
 * allowance in `transferFrom` without an event, so only a call returns the remaining amount.
 */
export const allowancesReader: StateReader<AllowancesQuestion, Allowances> = {
  kind: allowancesKind,
  async read({ chain, pool }, { block, wallet, approvals }, signal) {
    const state = stateAt(pool, chain, block);
    const calls = [
      ...approvals.map(({ token, spender }) => ({ to: token, data: allowanceOf(wallet, spender) })),
      ...approvals.map(({ token }) => ({ to: token, data: balanceOfCall(wallet) })),
    ];
    const words = (await state.callTogether(calls, signal)).map((data) => readBalance(data)?.toString() ?? null);
    return { allowances: words.slice(0, approvals.length), balances: words.slice(approvals.length) };
  },
};

function allowanceOf(owner: Address, spender: Address): Hex {
  return `0xdd62ed3e${wordOf(owner)}${wordOf(spender)}`;
}

function wordOf(account: Address): string {
  return account.slice(2).padStart(64, '0');
}
