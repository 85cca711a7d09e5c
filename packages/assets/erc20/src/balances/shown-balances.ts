import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import type { Database } from '@chainstead/db';
import { newestKnownBlocks, type ReadingContext, type StateBlock } from '@chainstead/node-reads/requests';
import { type BalanceShown, fetchProofs, type ShownProof } from '../balance-proofs/fetch-proofs.ts';
import type { ResolvedBalance, ResolvedBalances } from './resolve-wallet-balances.ts';
import { getWalletBalances } from './wallet-balances-statement.ts';

interface ShownBalance {
  /** Base units. */
  readonly balance: bigint;
  readonly block: StateBlock;
}

/** As the API shows them without contract reads. Tokens without one are missing. */
export async function readShownBalances(
  database: Database,
  chain: Chain,
  { wallet, tokens, liveMaxAgeMs }: { wallet: Address; tokens: readonly Address[]; liveMaxAgeMs: number },
): Promise<ReadonlyMap<Address, ShownBalance>> {
  const known = await getWalletBalances(database, chain, {
    ...{ wallet, tokens, liveMaxAgeMs, limit: tokens.length },
    ...{ excludeSpam: false, verifiedOnly: false, toBlock: null, order: null, freshFrom: null },
  });
  const { indexed, isBuilt } = known;
  const newest = indexed.toBlock === null ? [] : [indexed.toBlock];
  const reported = known.tokens.flatMap(({ balanceBlock }) => balanceBlock ?? []);
  const blocks = await newestKnownBlocks(database, chain, [...newest, ...reported]);
  const shown = new Map<Address, ShownBalance>();
  const looked = new Set(known.tokens.map(({ token }) => token));
  const [atNewest] = newest.map((number) => blocks.get(number));
  if (isBuilt && atNewest !== undefined)
    for (const token of tokens) if (!looked.has(token)) shown.set(token, { balance: 0n, block: atNewest });
  for (const { token, balance, balanceBlock, ...held } of known.tokens) {
    const block = balanceBlock === null ? undefined : blocks.get(balanceBlock);
    if (balance === null || balanceBlock === null || block === undefined) continue;
    if (isBalanceAt(block.number, { ...held, balanceBlock }, indexed)) shown.set(token, { balance, block });
  }
  return shown;
}

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
function isBalanceAt(
  block: number,
  { balanceBlock, class: kind, addsUp }: Pick<ResolvedBalance, 'balanceBlock' | 'class' | 'addsUp'>,
  { fromBlock, toBlock }: ResolvedBalances['indexed'],
): boolean {
  if (block === balanceBlock) return true;
  const isIndexed = fromBlock !== null && block >= fromBlock - 1;
  return isIndexed && kind !== 'live' && (addsUp || balanceBlock === toBlock);
}
