import { type Address, type Hash, type Hex, isAddress } from '@chainstead/core';
import { type StateKind, type StateReader, stateAt } from '@chainstead/node-reads';
import { z } from 'zod';
import { balanceOfCall, readBalance } from '../calls/fetch-balances.ts';

const address = z.custom<Address>((text) => typeof text === 'string' && isAddress(text));
const amounts = z.array(z.string().regex(/^\d+$/).nullable()).readonly();

const questionSchema = z.object({
  block: z.object({
    number: z.int().min(0),
    hash: z.custom<Hash>((text) => typeof text === 'string' && /^0x[0-9a-f]{64}$/.test(text)),
  }),
  wallet: address,
  approvals: z.array(z.object({ token: address, spender: address })).readonly(),
});
type AllowancesQuestion = z.infer<typeof questionSchema>;

/** In the given order. Base units; null if a token returns none. */
const answerSchema = z.object({ allowances: amounts, balances: amounts });
export type Allowances = z.infer<typeof answerSchema>;

export const allowancesKind: StateKind<AllowancesQuestion, Allowances> = {
  name: 'erc20-allowances',
  question: questionSchema,
  answer: answerSchema,
};

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
