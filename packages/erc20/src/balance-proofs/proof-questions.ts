import { type Address, type Hash, parseAddress, parseHash } from '@chainstead/core';
import type { StateKind } from '@chainstead/node-reads';
import { z } from '@hono/zod-openapi';
import type { BlockOfState } from './state-proofs.ts';

export interface ProofQuestion {
  readonly wallet: Address;
  readonly block: BlockOfState;
  /** Base units, decimal digits. */
  readonly balances: readonly { readonly token: Address; readonly shown: string }[];
}

/** Docs: docs/reference/proofs.md. `contradicted`: the state has another balance. */
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

export type Doubt = (typeof DOUBTS)[number];

export type ProofAnswer = readonly {
  readonly token: Address;
  /** Null: the state matches the shown balance, or the one to show instead. */
  readonly doubt: Doubt | null;
  /** Base units: the state's balance, confirmed by an upstream, if it differs. */
  readonly instead: string | null;
}[];

const address = z.string().transform((text): Address => parseAddress(text));

export const BALANCES_PROVEN: StateKind<ProofQuestion, ProofAnswer> = {
  name: 'erc20-balance-proofs',
  question: z.object({
    wallet: address,
    block: z.object({ number: z.int(), hash: z.string().transform((text): Hash => parseHash(text)) }),
    balances: z.array(z.object({ token: address, shown: z.string().regex(/^\d+$/) })),
  }),
  answer: z.array(
    z.object({
      token: address,
      doubt: z.enum(DOUBTS).nullable(),
      instead: z.string().regex(/^\d+$/).nullable(),
    }),
  ),
  callsOf: ({ balances }) => balances.length * CALLS_PER_PROOF,
};

/** The proof, the balance at its block, and sometimes the search for its slot. */
const CALLS_PER_PROOF = 3;
