import type { Chain } from '@chainstead/chains';
import { type Address, errorText } from '@chainstead/core';
import { type ReadingContext, StateNotArchivedError, StateUnavailableError } from '@chainstead/state';
import { BALANCES_PROVEN, DOUBTS, type ProofQuestion } from './proof-questions.ts';
import type { BlockOfState } from './state-proofs.ts';

/** A balance as it is shown. */
export interface BalanceShown {
  readonly token: Address;
  /** Base units. */
  readonly balance: bigint;
  /** After which it is shown; null where no such block is known by its hash. */
  readonly block: BlockOfState | null;
}

/**
 * Why a balance of an answer is not proven: beside what the chain's state says, `block-unknown`: the hash of its block is not stored; `too-many`: others
 * of the answer came first; `not-in-time`: nodes have not answered yet.
 */
export const PROOF_REASONS = [...DOUBTS, 'block-unknown', 'too-many', 'not-in-time'] as const;

export interface ShownProof {
  /** Null: it is proven. */
  readonly reason: (typeof PROOF_REASONS)[number] | null;
  /** Under whose state root; null where it is not proven. */
  readonly block: number | null;
  /** What is proven where that is not what was told; else null. Base units. */
  readonly instead: bigint | null;
}

/** Of one answer: each takes a proof of some kilobytes, and the search for its place in storage a few dozen more. */
const TOKENS_MAX = 50;
/** Of one question, which has some seconds for them. */
const TOGETHER = 10;
/** What the state of a block has does not change. Milliseconds. */
const KEPT_MS = 300_000;

/**
 * Has shown balances proven by the worker role, the first fifty of them. The same balances at the same block are asked about once: whoever comes
 * too early for the answer finds it with the next request.
 * @returns by token, of each balance that was given
 */
export async function askProofs(
  { questions, logger }: Pick<ReadingContext, 'questions' | 'logger'>,
  chain: Chain,
  { wallet, balances, waitMs }: { wallet: Address; balances: readonly BalanceShown[]; waitMs: number },
): Promise<ReadonlyMap<Address, ShownProof>> {
  const proofs = new Map<Address, ShownProof>();
  const known = balances.flatMap((one) => (one.block === null ? [] : [{ ...one, block: one.block }]));
  for (const { token, block } of balances)
    proofs.set(token, { reason: block === null ? 'block-unknown' : 'too-many', ...UNPROVEN });
  const asked = known.slice(0, TOKENS_MAX);
  for (const { token } of asked) proofs.set(token, { reason: 'not-in-time', ...UNPROVEN });
  const askPart = async (question: ProofQuestion): Promise<void> => {
    try {
      const answer = await questions.ask(chain, BALANCES_PROVEN, question, { waitMs, maxAgeMs: KEPT_MS });
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
  await Promise.all(questionsOf(wallet, asked).map(askPart));
  return proofs;
}

const UNPROVEN = { block: null, instead: null };

/** By block, in one order: the same balances make the same questions. */
function questionsOf(
  wallet: Address,
  balances: readonly (BalanceShown & { readonly block: BlockOfState })[],
): readonly ProofQuestion[] {
  const questions: ProofQuestion[] = [];
  for (const ofBlock of Map.groupBy(balances, ({ block }) => block.hash).values()) {
    const sorted = ofBlock.toSorted((one, other) => (one.token < other.token ? -1 : 1));
    for (const [place, { block }] of sorted.entries())
      if (place % TOGETHER === 0) {
        const some = sorted.slice(place, place + TOGETHER);
        questions.push({
          wallet,
          block: { number: block.number, hash: block.hash },
          balances: some.map(({ token, balance }) => ({ token, shown: balance.toString() })),
        });
      }
  }
  return questions;
}
