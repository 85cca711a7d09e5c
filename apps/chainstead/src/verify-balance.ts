import type { Address } from '@chainstead/core';
import type { BalanceProof, BalanceProver } from '@chainstead/erc20';
import type { ShownBalance } from './shown-balances.ts';

/** A balance, and what came of it. A contradicted one may be unproven too: then what is shown and what `balanceOf` says differ. */
export type VerifiedBalance = ShownBalance & BalanceProof;

/** Compares what the API shows, what the contract says, and what the chain's state has. @throws RequestAbortedError, DatabaseError */
export async function verifyBalance(
  prover: BalanceProver,
  wallet: Address,
  balance: ShownBalance,
  signal: AbortSignal,
): Promise<VerifiedBalance> {
  const { token, shown, told, toldBy, block } = balance;
  const proof = await prover.proveBalance({ wallet, token, shown: told, toldBy }, signal);
  const isShownRight = shown === null || shown === (proof.proven ?? told);
  if (isShownRight) return { ...balance, ...proof };
  const state = proof.proven === null ? '' : `, the state of block ${block.number} has ${proof.proven}`;
  const detail = `the API shows ${shown}, ${toldBy ?? 'balanceOf'} says ${told ?? 'nothing'}${state}`;
  return { ...balance, ...proof, verdict: 'contradicted', detail };
}
