import type { StateKind } from '@chainstead/node-reads';
import { z } from 'zod';

const questionSchema = z.object({
  service: z.enum(['ens', 'unstoppable']),
  wanted: z.enum(['address', 'name']),
  /** A normalised name, or an address in lower case. */
  subject: z.string().min(1),
});

const answerSchema = z.object({
  answer: z.string().nullable(),
  /** A gateway would have to be queried, and may not be. */
  offChain: z.boolean(),
  /** Null if several chains were needed. */
  asOf: z.object({ chainId: z.int(), block: z.int() }).nullable(),
});

export type NameQuestion = z.infer<typeof questionSchema>;
export type NameService = NameQuestion['service'];
export type NameAnswer = z.infer<typeof answerSchema>;

export const NO_NAME: NameAnswer = { answer: null, offChain: false, asOf: null };

export const nameKind: StateKind<NameQuestion, NameAnswer> = {
  name: 'name',
  question: questionSchema,
  answer: answerSchema,
  // The owner of a domain writes the resolver of all names below it.
  originOf: ({ service, wanted, subject }) =>
    wanted === 'address' ? `${service} ${subject.split('.').slice(-2).join('.')}` : undefined,
};
