import { type Address, type Hash, parseAddress, parseHash } from '@chainstead/core';
import type { StateKind } from '@chainstead/state';
import { z } from '@hono/zod-openapi';
import type { BlockOfState } from './state-proofs.ts';

/** Has balances that are shown of a wallet compared with a block's state root. */
export interface ProofQuestion {
  readonly wallet: Address;
  /** After which they are shown. */
  readonly block: BlockOfState;
  /** Base units, decimal digits. */
  readonly balances: readonly { readonly token: Address; readonly shown: string }[];
}

/** Why a shown balance is not proven: the state has another one, or it can't be told (docs/proofs.md). */
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

/** Of each token that was asked for. */
export type ProofAnswer = readonly {
  readonly token: Address;
  /** Null: the state has exactly what is shown, or what is to be shown instead. */
  readonly doubt: Doubt | null;
  /** What the state has, and an upstream says, where it is not what is shown; else null. Base units, decimal digits. */
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
};
