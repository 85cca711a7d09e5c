/** Positions of traders: whether a swap opens, grows, shrinks or closes one (docs/api/swaps.md#positions). */
import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import type { ReadDatabase } from '@chainstead/db';
import { type BalancesAround, readBalancesAround } from '@chainstead/erc20';
import { type Anchors, anchorsOf } from '../anchors/anchors-of-chain.ts';
import { type SwapSides, viewedSide } from './swap-sides.ts';

export const SUB_CATEGORIES = ['newPosition', 'accumulation', 'partialSell', 'sellAll'] as const;

export type SubCategory = (typeof SUB_CATEGORIES)[number];

/** A swap or liquidity change with its sides; null: a token is unknown. */
export interface PositionedSwap {
  readonly sides: SwapSides | null;
  readonly token0: Address | null;
  readonly token1: Address | null;
  readonly wallet: Address;
  readonly beneficiary: Address | null;
  readonly block_number: number;
  readonly transaction_index: number;
}

/**
 * Returns the position of each swap, in order: by the trader's balance of the viewed token before the transaction of a purchase, and after
 * that of a sale. The trader is the beneficiary, else the sender. Null: no trade, or the balance is unknown. So is that of the native token: a trader
 * who moved no wrapped native token in the transaction of its swap traded the native one.
 * @param focus forms of the token from whose view swaps are purchases or sales; empty: the base token of each pool
 */
export async function readSubCategories(
  database: ReadDatabase,
  chain: Chain,
  swaps: readonly PositionedSwap[],
  { focus, isSpread }: { readonly focus: readonly Address[]; readonly isSpread: boolean },
): Promise<readonly (SubCategory | null)[]> {
  const { native } = anchorsOf(chain);
  const trades = swaps.map((swap) => tradeOf(swap, focus, { native, wrapped: chain.wrappedNative }));
  const known = await readBalancesAround(
    database,
    chain,
    trades.flatMap((trade) => trade ?? []),
    isSpread,
  );
  const balances = known.values();
  return trades.map((trade) => {
    if (trade === null) return null;
    const { value: around = null } = balances.next();
    return around === null ? null : categoryOf(trade, around);
  });
}

interface Trade {
  readonly isBuy: boolean;
  readonly isNative: boolean;
  readonly account: Address;
  readonly token: Address;
  readonly block: number;
  readonly transactionIndex: number;
}

function tradeOf(
  {
    sides,
    token0,
    token1,
    wallet,
    beneficiary,
    block_number: block,
    transaction_index: transactionIndex,
  }: PositionedSwap,
  focus: readonly Address[],
  { native, wrapped }: { readonly native: Anchors['native']; readonly wrapped: Address | null },
): Trade | null {
  if (sides === null || sides.trade === null) return null;
  const viewed = viewedSide({ token0 }, sides, focus);
  const token = viewed.type === 'token0' ? token0 : token1;
  const isNative = token !== null && native.includes(token);
  // Balances of the native token, and of a wrapped one without its deposits and withdrawals, don't follow from transfers.
  if (token === null || (isNative && token !== wrapped)) return null;
  const isBuy = sides.trade.bought === viewed;
  return { isBuy, isNative, account: beneficiary ?? wallet, token, block, transactionIndex };
}

function categoryOf({ isBuy, isNative }: Trade, { before, after, isMoved }: BalancesAround): SubCategory | null {
  if (isNative && !isMoved) return null;
  if (isBuy) return before === 0n ? 'newPosition' : 'accumulation';
  return after === 0n ? 'sellAll' : 'partialSell';
}
