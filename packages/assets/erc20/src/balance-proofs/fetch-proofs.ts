import type { Chain } from '@chainstead/chains';
import { type Address, errorText, inParts, parseAddress, parseHash } from '@chainstead/core';
import type { StateKind } from '@chainstead/node-reads';
import {
  type ReadingContext,
  StateNotArchivedError,
  StateUnavailableError,
} from '@chainstead/node-reads/requests';
import { z } from '@hono/zod-openapi';
import type { BlockOfState } from './state-proofs.ts';

export interface BalanceShown {
  readonly token: Address;
  readonly balance: bigint;
  /** Null if the hash of the block is not stored. */
  readonly block: BlockOfState | null;
}

/** docs/reference/proofs.md. `contradicted`: the state has another balance. */
const DOUBTS = [
  'contradicted',
  'no-slot-found',
  'rebasing',
  'not-plain',
  'no-balance',
  'no-proof-from-upstream',
  'header-not-verifiable',
  'not-archived',
] as const;

/** `too-many`: beyond the limit per response. `not-in-time`: nodes have not responded yet. */
export const PROOF_REASONS = [...DOUBTS, 'block-unknown', 'too-many', 'not-in-time'] as const;

export interface ShownProof {
  readonly reason: (typeof PROOF_REASONS)[number] | null;
  readonly block: number | null;
  /** Base units; null unless the proven value differs from the shown one. */
  readonly instead: bigint | null;
}

const TOKENS_MAX = 50;
const TOGETHER = 10;
/** Milliseconds. */
const KEPT_MS = 300_000;

/** For the first fifty. A retry finds its results. @returns one result for each balance */
export async function fetchProofs(
  { nodeReads, logger }: Pick<ReadingContext, 'nodeReads' | 'logger'>,
  chain: Chain,
  { wallet, balances }: { wallet: Address; balances: readonly BalanceShown[] },
): Promise<ReadonlyMap<Address, ShownProof>> {
  const proofs = new Map<Address, ShownProof>();
  for (const { token, block } of balances)
    proofs.set(token, { reason: block === null ? 'block-unknown' : 'too-many', ...UNPROVEN });
  const requested = balances
    .flatMap(({ block, ...balance }) => (block === null ? [] : [{ ...balance, block }]))
    .slice(0, TOKENS_MAX);
  for (const { token } of requested) proofs.set(token, { reason: 'not-in-time', ...UNPROVEN });
  const fetchPart = async (question: ProofQuestion): Promise<void> => {
    try {
      const answer = await nodeReads.request(chain, BALANCES_PROVEN, question, { maxAgeMs: KEPT_MS });
      for (const { token, doubt, instead } of answer ?? [])
        proofs.set(token, {
          reason: doubt,
          block: doubt === null ? question.block.number : null,
          instead: instead === null ? null : BigInt(instead),
        });
    } catch (error) {
      if (!(error instanceof StateUnavailableError || error instanceof StateNotArchivedError)) throw error;
      logger.debug({ chain: chain.key, wallet, error: errorText(error) }, 'Balances could not be proven now');
    }
  };
  await Promise.all(questionsOf(wallet, requested).map(fetchPart));
  return proofs;
}

const UNPROVEN = { block: null, instead: null };

/** In a fixed order, so that equal balances produce equal state reads. */
function questionsOf(
  wallet: Address,
  balances: readonly (BalanceShown & { readonly block: BlockOfState })[],
): readonly ProofQuestion[] {
  const byBlock = [...Map.groupBy(balances, ({ block }) => block.hash).values()];
  return byBlock.flatMap((ofBlock) => {
    const sorted = ofBlock.toSorted((a, b) => (a.token < b.token ? -1 : 1));
    return inParts(sorted, TOGETHER).flatMap((some): readonly ProofQuestion[] => {
      const [first] = some;
      if (first === undefined) return [];
      const { number, hash } = first.block;
      const shown = some.map(({ token, balance }) => ({ token, shown: balance.toString() }));
      return [{ wallet, block: { number, hash }, balances: shown }];
    });
  });
}

const address = z.string().transform(parseAddress);
const digits = z.string().regex(/^\d+$/);

const questionSchema = z.object({
  wallet: address,
  block: z.object({ number: z.int(), hash: z.string().transform(parseHash) }),
  /** Base units. */
  balances: z.array(z.object({ token: address, shown: digits })).readonly(),
});
export type ProofQuestion = z.infer<typeof questionSchema>;

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
