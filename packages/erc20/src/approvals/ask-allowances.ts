import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import type { ReadDatabase } from '@chainstead/db';
import { committedBlock, type StateQuestions, StateUnavailableError } from '@chainstead/state';
import { type Allowances, type AllowancesQuestion, allowancesKind } from './allowances.ts';
import type { WalletApproval } from './get-wallet-approvals.ts';
import type { PresentApproval } from './wallet-approvals-response.ts';

/** Of one block an answer stays right; it is only forgotten after a while. Milliseconds. */
const ANSWER_AGE_MS = 60_000;

/** Asks tokens what is left of approvals at the newest block. What they don't say in time, or at all, is null. */
export function createAllowancesQuestion({
  questions,
  waitMs,
}: {
  readonly questions: StateQuestions;
  readonly waitMs: number;
}) {
  async function ask(chain: Chain, question: AllowancesQuestion): Promise<Allowances | null> {
    try {
      return await questions.ask(chain, allowancesKind, question, { waitMs, maxAgeMs: ANSWER_AGE_MS });
    } catch (error) {
      // The events are shown instead.
      if (error instanceof StateUnavailableError) return null;
      throw error;
    }
  }

  return async (
    database: ReadDatabase,
    chain: Chain,
    wallet: Address,
    approvals: readonly WalletApproval[],
  ): Promise<PresentApproval[]> => {
    const block = approvals.length === 0 ? null : await committedBlock(database, chain);
    const said =
      block === null
        ? null
        : await ask(chain, {
            block: { number: block.number, hash: block.hash },
            wallet,
            approvals: approvals.map(({ token, spender }) => ({ token: token.address, spender: spender.address })),
          });
    return approvals.map((approval, index) => ({
      approval,
      allowance: said?.allowances[index] ?? null,
      balance: said?.balances[index] ?? null,
    }));
  };
}
