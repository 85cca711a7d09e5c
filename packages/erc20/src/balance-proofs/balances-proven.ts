import type { StateReader } from '@chainstead/state';
import { BALANCES_PROVEN, type Doubt, type ProofAnswer, type ProofQuestion } from './proof-questions.ts';
import { createBalanceProver } from './prove-balance.ts';

/** Proves what is shown of a wallet at one block. Of the worker role. */
export const balancesProven: StateReader<ProofQuestion, ProofAnswer> = {
  kind: BALANCES_PROVEN,
  async read({ chain, pool, database, logger }, { wallet, block, balances }, signal) {
    const prover = createBalanceProver({ database, pool, chain, block });
    const prove = async ({ token, shown }: ProofQuestion['balances'][number]) => {
      const balance = { wallet, token, shown: BigInt(shown), toldBy: null };
      const { verdict, reason, detail } = await prover.proveBalance(balance, signal);
      const doubt: Doubt | null = verdict === 'contradicted' ? verdict : reason;
      if (verdict === 'contradicted')
        logger.warn(
          { chain: chain.key, wallet, token, block: block.number, detail },
          "A balance that is shown is not the one of the chain's state",
        );
      return { token, doubt };
    };
    return Promise.all(balances.map(prove));
  },
};
