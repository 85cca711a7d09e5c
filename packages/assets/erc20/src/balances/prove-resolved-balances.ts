import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import { newestKnownBlocks, type ReadingContext } from '@chainstead/node-reads/requests';
import { type BalanceShown, fetchProofs, type ShownProof } from '../balance-proofs/fetch-proofs.ts';
import type { ResolvedBalance, ResolvedBalances } from './resolve-wallet-balances.ts';

export async function proveResolvedBalances(
  context: ReadingContext,
  chain: Chain,
  wallet: Address,
  { balances, indexed }: Pick<ResolvedBalances, 'balances' | 'indexed'>,
): Promise<ReadonlyMap<Address, ShownProof>> {
  const numbers = balances.map(({ balanceBlock }) => balanceBlock);
  const blocks = await newestKnownBlocks(context.database, chain, numbers);
  const shown = balances.map(({ token, balance, ...reported }): BalanceShown => {
    const block = blocks.get(reported.balanceBlock) ?? null;
    const isValid = block !== null && isBalanceAt(block.number, reported, indexed);
    return { token, balance, block: isValid ? block : null };
  });
  return fetchProofs(context, chain, { wallet, balances: shown });
}

/** Proven values replace wrong ones. Omits zeros. */
export function asProven(
  balances: readonly ResolvedBalance[],
  proofs: ReadonlyMap<Address, ShownProof>,
): readonly ResolvedBalance[] {
  return balances.flatMap((reported) => {
    const balance = proofs.get(reported.token)?.instead ?? reported.balance;
    return balance === 0n ? [] : [{ ...reported, balance }];
  });
}

/** `block`: the newest stored one up to the balance's. Blocks without rows moved nothing. */
export function isBalanceAt(
  block: number,
  { balanceBlock, class: kind, addsUp }: Pick<ResolvedBalance, 'balanceBlock' | 'class' | 'addsUp'>,
  { fromBlock, toBlock }: ResolvedBalances['indexed'],
): boolean {
  if (block === balanceBlock) return true;
  const isIndexed = fromBlock !== null && block >= fromBlock - 1;
  return isIndexed && kind !== 'live' && (addsUp || balanceBlock === toBlock);
}
