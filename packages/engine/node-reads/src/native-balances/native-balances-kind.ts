import { isAddress } from '@chainstead/core';
import { z } from 'zod';
import type { StateKind } from '../state-kind.ts';

const questionSchema = z.object({
  addresses: z.array(z.string().refine(isAddress)).min(1),
  /** Null: the newest committed block. */
  to_block: z.int().min(0).nullable(),
});

const answerSchema = z.object({
  block: z.object({ number: z.int(), hash: z.string(), timestamp: z.int() }),
  /** Wei, decimal digits. */
  balances: z.array(z.string().regex(/^\d+$/)),
});

export type NativeBalancesQuestion = z.infer<typeof questionSchema>;
export type NativeBalancesAnswer = z.infer<typeof answerSchema>;

export const nativeBalancesKind: StateKind<NativeBalancesQuestion, NativeBalancesAnswer> = {
  name: 'native-balances',
  question: questionSchema,
  answer: answerSchema,
};
