import { type Address, ZERO_ADDRESS } from '@chainstead/core';
import type { PoolId, SideAmounts, TokenAmounts } from '../events/pool-event.ts';

/** A token transfer of the swap's transaction, in base units. */
export interface TokenTransfer {
  readonly token: Address;
  readonly from: Address;
  readonly to: Address;
  readonly value: bigint;
  readonly logIndex: number;
}

/**
 * The two tokens of a pool that is a contract, from the transfers of a swap's transaction (dexes.md 5.2, 5.3). Transfers to and from
 * the pool of exactly the swap's amounts decide, else the only two tokens that it moved. Null if neither decides. The result is a guess
 * until the pool is proven with these tokens: a token can log any transfer.
 * @param transfers all of the transaction, in order
 * @param isSorted false if the pool may hold its tokens in any order: then only amounts decide
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
  const moved = [...new Set(transfers.filter((one) => one.from === pool || one.to === pool).map(({ token }) => token))];
  const [token0, token1] = moved.toSorted();
  return moved.length === 2 && token0 !== undefined && token1 !== undefined ? [token0, token1] : null;
}

/**
 * Tokens of a swap of coins: those that the event names, else the only token that the pool moved in this amount. A pool without any transfer in a
 * direction moved the native token there, the zero address. A token that the pool mints or burns on the way is its deposit elsewhere, not the coin.
 */
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

/** Tokens of which this amount moved: into the pool, or out of it if negative. */
function tokensOfAmount(pool: PoolId, amount: bigint, transfers: readonly TokenTransfer[]): readonly Address[] {
  const value = amount < 0n ? -amount : amount;
  const found = transfers.filter((one) => one.value === value && (amount < 0n ? one.from : one.to) === pool);
  return [...new Set(found.map(({ token }) => token))];
}
