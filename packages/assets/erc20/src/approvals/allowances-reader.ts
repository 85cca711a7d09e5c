import type { Address, Hex } from '@chainstead/core';
import { type StateReader, stateAt } from '@chainstead/node-reads';
import { balanceOfCall, readBalance } from '../calls/balance-of.ts';
import { type Allowances, type AllowancesQuestion, allowancesKind } from './allowances.ts';

/** From calls: many tokens reduce an allowance in `transferFrom` without an event. */
export const allowancesReader: StateReader<AllowancesQuestion, Allowances> = {
  kind: allowancesKind,
  async read({ chain, pool }, { block, wallet, approvals }, signal) {
    const wordOf = (account: Address): string => account.slice(2).padStart(64, '0');
    const calls = [
      ...approvals.map(({ token, spender }) => {
        const data: Hex = `0xdd62ed3e${wordOf(wallet)}${wordOf(spender)}`;
        return { to: token, data };
      }),
      ...approvals.map(({ token }) => ({ to: token, data: balanceOfCall(wallet) })),
    ];
    const returned = await stateAt(pool, chain, block).callTogether(calls, signal);
    const words = returned.map((data) => readBalance(data)?.toString() ?? null);
    return { allowances: words.slice(0, approvals.length), balances: words.slice(approvals.length) };
  },
};
