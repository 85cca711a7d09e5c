/** Proves what is shown of a wallet at one block. Of the worker role. */
import type { StateReader } from '@chainstead/state';
import {
  BALANCES_PROVEN,
  type Doubt,
  type ProofAnswer,
  type ProofQuestion,
} from '../balance-proofs/proof-questions.ts';
import { createBalanceProver } from '../balance-proofs/prove-balance.ts';
import { type Contradicted, correctAnchors } from './correct-anchors.ts';

export const balancesProven: StateReader<ProofQuestion, ProofAnswer> = {
  kind: BALANCES_PROVEN,
  async read(context, { wallet, block, balances }, signal) {
    const { chain, pool, database, logger } = context;
    const prover = createBalanceProver({ database, pool, chain, block });
    const contradicted: Contradicted[] = [];
    const prove = async ({ token, shown }: ProofQuestion['balances'][number]): Promise<ProofAnswer[number]> => {
      const balance = { wallet, token, shown: BigInt(shown), toldBy: null };
      const { verdict, reason, detail, proven, isSeconded } = await prover.proveBalance(balance, signal);
      if (verdict !== 'contradicted') return { token, doubt: reason, instead: null };
      logger.warn(
        { chain: chain.key, wallet, token, block: block.number, detail },
        "A balance that is shown is not the one of the chain's state",
      );
      const right = isSeconded ? proven : null;
      contradicted.push({ token, right });
      const doubt: Doubt | null = right === null ? verdict : null;
      return { token, doubt, instead: right?.toString() ?? null };
    };
    const answer = await Promise.all(balances.map(prove));
    await correctAnchors(context, { wallet, block, contradicted });
    return answer;
  },
};
