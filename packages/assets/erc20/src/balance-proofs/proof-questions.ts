import { parseAddress, parseHash } from '@chainstead/core';
import type { StateKind } from '@chainstead/node-reads';
import { z } from '@hono/zod-openapi';

const address = z.string().transform(parseAddress);
const digits = z.string().regex(/^\d+$/);

const questionSchema = z.object({
  wallet: address,
  block: z.object({ number: z.int(), hash: z.string().transform(parseHash) }),
  /** Base units. */
  balances: z.array(z.object({ token: address, shown: digits })).readonly(),
});
export type ProofQuestion = z.infer<typeof questionSchema>;

/** docs/reference/proofs.md. `contradicted`: the state has another balance. */
export const DOUBTS = [
  'contradicted',
  'no-slot-found',
  'rebasing',
  'not-plain',
  'no-balance',
  'no-proof-from-upstream',
  'header-not-verifiable',
  'not-archived',
] as const;

const answerSchema = z
  .array(
    z.object({
      token: address,
      /** Null: the state matches, or has the balance to show instead. */
      doubt: z.enum(DOUBTS).nullable(),
      /** Base units: the state's other balance, confirmed by an upstream. */
      instead: digits.nullable(),
    }),
  )
  .readonly();
export type ProofAnswer = z.infer<typeof answerSchema>;

/** The proof, the balance, and sometimes the search for its slot. */
const CALLS_PER_PROOF = 3;

export const BALANCES_PROVEN: StateKind<ProofQuestion, ProofAnswer> = {
  name: 'erc20-balance-proofs',
  question: questionSchema,
  answer: answerSchema,
  callsOf: ({ balances }) => balances.length * CALLS_PER_PROOF,
};
