import { type Address, type Hash, isAddress } from '@chainstead/core';
import type { StateKind } from '@chainstead/node-reads';
import { z } from 'zod';

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
export type AllowancesQuestion = z.infer<typeof questionSchema>;

/** In the given order. Base units; null if a token returns none. */
const answerSchema = z.object({ allowances: amounts, balances: amounts });
export type Allowances = z.infer<typeof answerSchema>;

export const allowancesKind: StateKind<AllowancesQuestion, Allowances> = {
  name: 'erc20-allowances',
  question: questionSchema,
  answer: answerSchema,
};
