import type { Address } from '@chainstead/core';
import { addressBytes, sql } from '@chainstead/db';
import type { StateReader, StateReadingContext } from '@chainstead/node-reads';
import { knownBlock } from '@chainstead/node-reads/requests';
import { underCommitLock } from '@chainstead/sync/commit-retry';
import { BY_WALLET } from '../anchored-sums/axes.ts';
import { saveReadings } from '../anchored-sums/save-readings.ts';
import { BALANCES_PROVEN, type ProofAnswer, type ProofQuestion } from '../balance-proofs/proof-questions.ts';
import { createBalanceProver } from '../balance-proofs/prove-balance.ts';
import { FORGOTTEN } from '../transfers/anchors.ts';

export const balancesProven: StateReader<ProofQuestion, ProofAnswer> = {
  kind: BALANCES_PROVEN,
  async read(context, { wallet, block, balances }, signal) {
    const { chain, pool, database, logger } = context;
    const prover = createBalanceProver({ database, pool, chain, block });
    const contradicted: Contradicted[] = [];
    const prove = async ({ token, shown }: ProofQuestion['balances'][number]): Promise<ProofAnswer[number]> => {
      const balance = { wallet, token, shown: BigInt(shown), reportedBy: null };
      const { verdict, reason, detail, proven, isSeconded } = await prover.proveBalance(balance, signal);
      if (verdict !== 'contradicted') return { token, doubt: reason, instead: null };
      logger.warn(
        { chain: chain.key, wallet, token, block: block.number, detail },
        "A balance that is shown is not the one of the chain's state",
      );
      const right = isSeconded ? proven : null;
      contradicted.push({ token, right });
      return { token, doubt: right === null ? verdict : null, instead: right?.toString() ?? null };
    };
    const answer = await Promise.all(balances.map(prove));
    await correctAnchors(context, { wallet, block }, contradicted);
    return answer;
  },
};

interface Contradicted {
  readonly token: Address;
  /** Base units; null if no upstream confirms the state's balance. */
  readonly right: bigint | null;
}

/**
 * Stores balances that an upstream confirms; reads the others again.
 * @throws StateUnavailableError if a reorg removed the block; DatabaseError
 */
async function correctAnchors(
  context: StateReadingContext,
  { wallet, block }: Pick<ProofQuestion, 'wallet' | 'block'>,
  contradicted: readonly Contradicted[],
): Promise<void> {
  if (contradicted.length === 0) return;
  const { chain, database } = context;
  const known = await knownBlock(database, chain, block.number);
  if (known?.hash !== block.hash) return;
  await underCommitLock(database, chain, async (transaction) => {
    // A later read is not affected.
    await transaction.query(
      sql`UPDATE erc20_wallet_tokens SET ${FORGOTTEN}
        WHERE wallet = ${addressBytes(wallet)} AND chain_id = ${chain.id} AND token = ANY (${contradicted.map(({ token }) => addressBytes(token))}::bytea[]) AND anchor_block <= ${block.number}`,
    );
  });
  const right = new Map(
    contradicted.flatMap(({ token, right: value }) => (value === null ? [] : [[token, value] as const])),
  );
  if (right.size === 0) return;
  // Two sources agree: the state and an upstream.
  const readings = { subject: wallet, block: known, firstBlock: chain.firstBlock };
  await saveReadings(context, BY_WALLET, { ...readings, first: right, second: right, silent: new Set() });
}
