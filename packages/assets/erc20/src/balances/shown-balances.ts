import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import type { Database } from '@chainstead/db';
import { newestKnownBlocks, type StateBlock } from '@chainstead/node-reads/requests';
import { getWalletBalances } from './get-wallet-balances.ts';
import { isBalanceAt } from './prove-resolved-balances.ts';

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
