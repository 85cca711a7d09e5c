import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import { newestKnownBlocks, type ReadingContext } from '@chainstead/state';
import { askProofs, type BalanceShown, type ShownProof } from '../balance-proofs/ask-proofs.ts';
import type { ToldBalance, ToldBalances } from './tell-wallet-balances.ts';

/** What the chain's state says of told balances, by token: that it has them, or why nobody knows. */
export async function proveToldBalances(
  context: ReadingContext & { readonly waitMs: number },
  chain: Chain,
  wallet: Address,
  { balances, indexed }: Pick<ToldBalances, 'balances' | 'indexed'>,
): Promise<ReadonlyMap<Address, ShownProof>> {
  const numbers = balances.map(({ balanceBlock }) => balanceBlock);
  const blocks = await newestKnownBlocks(context.database, chain, numbers);
  const shown = balances.map((told): BalanceShown => {
    const block = blocks.get(told.balanceBlock) ?? null;
    const isOf = block !== null && isBalanceAt(block.number, told, indexed);
    return { token: told.token, balance: told.balance, block: isOf ? block : null };
  });
  return askProofs(context, chain, { wallet, balances: shown, waitMs: context.waitMs });
}

/** The balances with what is proven instead of what was told; those of which the state has nothing are left out. */
export function asProven(
  balances: readonly ToldBalance[],
  proofs: ReadonlyMap<Address, ShownProof>,
): readonly ToldBalance[] {
  return balances.flatMap((told) => {
    const balance = proofs.get(told.token)?.instead ?? told.balance;
    return balance === 0n ? [] : [{ ...told, balance }];
  });
}

/**
 * Whether a balance is that of the newest known block too, at or below the one that it is told of: blocks of which nothing is known moved nothing, but
 * that tells only balances that follow from transfers.
 */
export function isBalanceAt(
  block: number,
  { balanceBlock, class: kind, addsUp }: Pick<ToldBalance, 'balanceBlock' | 'class' | 'addsUp'>,
  { fromBlock, toBlock }: ToldBalances['indexed'],
): boolean {
  if (block === balanceBlock) return true;
  const isIndexed = fromBlock !== null && block >= fromBlock - 1;
  return isIndexed && kind !== 'live' && (addsUp || balanceBlock === toBlock);
}
