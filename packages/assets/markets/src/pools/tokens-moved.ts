import { type Address, ZERO_ADDRESS } from '@chainstead/core';
import type { PoolId, SideAmounts, TokenAmounts } from '../events/pool-event.ts';

/** Base units. */
export interface TokenTransfer {
  readonly token: Address;
  readonly from: Address;
  readonly to: Address;
  readonly value: bigint;
  readonly logIndex: number;
}

/**
 * A guess: transfers of the swap's amounts, else the only two tokens moved (dexes.md 5.2, 5.3).
 * @param isSorted false: tokens have any order, so only amounts decide
 */
export function tokensMoved(
  pool: PoolId,
  { amount0, amount1 }: SideAmounts,
  transfers: readonly TokenTransfer[],
  isSorted = true,
): readonly [Address, Address] | null {
  const side0 = tokensOfAmount(pool, amount0, transfers);
  const side1 = tokensOfAmount(pool, amount1, transfers);
  const pairs = side0.flatMap((token0) =>
    side1
      .filter((token1) => (isSorted ? token0 < token1 : token0 !== token1))
      .map((token1) => [token0, token1] as const),
  );
  if (pairs.length === 1) return pairs[0] ?? null;
  if (!isSorted) return null;
  const ofPool = transfers.filter(({ from, to }) => from === pool || to === pool);
  const moved = [...new Set(ofPool.map(({ token }) => token))];
  const [token0, token1] = moved.toSorted();
  return moved.length === 2 && token0 !== undefined && token1 !== undefined ? [token0, token1] : null;
}

/** Tokens that the event names, else the only one of the amount. Pools mint deposits, not coins. */
export function coinsMoved(
  pool: PoolId,
  { tokenIn, tokenOut, amountIn, amountOut }: TokenAmounts,
  transfers: readonly TokenTransfer[],
): Pick<TokenAmounts, 'tokenIn' | 'tokenOut'> {
  return {
    tokenIn: tokenIn ?? coinOf(pool, amountIn, transfers),
    tokenOut: tokenOut ?? coinOf(pool, -amountOut, transfers),
  };
}

function coinOf(pool: PoolId, amount: bigint, transfers: readonly TokenTransfer[]): Address | null {
  if (!transfers.some(({ from, to }) => (amount < 0n ? from : to) === pool)) return ZERO_ADDRESS;
  const paid = transfers.filter(({ from, to }) => from !== ZERO_ADDRESS && to !== ZERO_ADDRESS);
  const coins = [paid, transfers].map((some) => tokensOfAmount(pool, amount, some));
  const [only = null, second] = coins.find(({ length }) => length > 0) ?? [];
  return second === undefined ? only : null;
}

function tokensOfAmount(pool: PoolId, amount: bigint, transfers: readonly TokenTransfer[]): readonly Address[] {
  const value = amount < 0n ? -amount : amount;
  const moved = transfers.filter(
    (transfer) => transfer.value === value && (amount < 0n ? transfer.from : transfer.to) === pool,
  );
  return [...new Set(moved.map(({ token }) => token))];
}
