import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import type { Database } from '@chainstead/db';
import { newestKnownBlocks, type StateBlock } from '@chainstead/state';
import { getWalletBalances } from './get-wallet-balances.ts';
import { isBalanceAt } from './prove-told-balances.ts';

/** What the API shows of a token without asking anybody. */
interface ShownBalance {
  /** Base units. */
  readonly balance: bigint;
  /** A known block after which it is that. */
  readonly block: StateBlock;
}

/** What the API shows of a wallet's tokens as long as no contract is asked; those of which it shows nothing are missing. */
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
  const told = known.tokens.flatMap(({ balanceBlock }) => balanceBlock ?? []);
  const blocks = await newestKnownBlocks(database, chain, [...newest, ...told]);
  const shown = new Map<Address, ShownBalance>();
  const looked = new Set(known.tokens.map(({ token }) => token));
  const [atNewest] = newest.map((number) => blocks.get(number));
  // Of what is kept of the wallet only zeros are not told.
  if (isBuilt && atNewest !== undefined)
    for (const token of tokens) if (!looked.has(token)) shown.set(token, { balance: 0n, block: atNewest });
  for (const one of known.tokens) {
    const block = one.balanceBlock === null ? undefined : blocks.get(one.balanceBlock);
    if (one.balance === null || one.balanceBlock === null || block === undefined) continue;
    if (isBalanceAt(block.number, { ...one, balanceBlock: one.balanceBlock }, indexed))
      shown.set(one.token, { balance: one.balance, block });
  }
  return shown;
}
