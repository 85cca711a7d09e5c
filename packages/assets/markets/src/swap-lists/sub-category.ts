/** Positions of traders: docs/api/swaps.md#positions. */
import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import type { ReadDatabase } from '@chainstead/db';
import { readBalancesAround } from '@chainstead/erc20/balances-around';
import { type Anchors, anchorsOf } from '../anchors/anchors-of-chain.ts';
import { type SwapSides, viewedSide } from './swap-sides.ts';

export const SUB_CATEGORIES = ['newPosition', 'accumulation', 'partialSell', 'sellAll'] as const;
export type SubCategory = (typeof SUB_CATEGORIES)[number];

export interface PositionedSwap {
  readonly sides: SwapSides | null;
  readonly token0: Address | null;
  readonly token1: Address | null;
  readonly wallet: Address;
  readonly beneficiary: Address | null;
  readonly block_number: number;
  readonly transaction_index: number;
}

/** Compares the balance before a purchase, or after a sale. Null: no trade, or unknown. */
export async function readSubCategories(
  database: ReadDatabase,
  chain: Chain,
  swaps: readonly PositionedSwap[],
  { focus, isSpread }: { readonly focus: readonly Address[]; readonly isSpread: boolean },
): Promise<readonly (SubCategory | null)[]> {
  const { native } = anchorsOf(chain);
  const trades = swaps.map((swap) => tradeOf(swap, focus, { native, wrapped: chain.wrappedNative }));
  const changes = trades.flatMap((trade) => trade ?? []);
  const balances = (await readBalancesAround(database, chain, changes, isSpread)).values();
  return trades.map((trade) => {
    if (trade === null) return null;
    const { value: around = null } = balances.next();
    if (around === null || (trade.isNative && !around.isMoved)) return null;
    if (trade.isBuy) return around.before === 0n ? 'newPosition' : 'accumulation';
    return around.after === 0n ? 'sellAll' : 'partialSell';
  });
}

function tradeOf(
  { sides, token0, token1, wallet, beneficiary, ...place }: PositionedSwap,
  focus: readonly Address[],
  { native, wrapped }: { readonly native: Anchors['native']; readonly wrapped: Address | null },
) {
  if (sides === null || sides.trade === null) return null;
  const viewed = viewedSide({ token0 }, sides, focus);
  const token = viewed.type === 'token0' ? token0 : token1;
  const isNative = token !== null && native.includes(token);
  // Transfers show no native balance, nor a wrapped one without deposits and withdrawals.
  if (token === null || (isNative && token !== wrapped)) return null;
  const isBuy = sides.trade.bought === viewed;
  const { block_number: block, transaction_index: transactionIndex } = place;
  return { isBuy, isNative, account: beneficiary ?? wallet, token, block, transactionIndex };
}
