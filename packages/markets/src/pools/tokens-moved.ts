import type { Address } from '@chainstead/core';
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

/** Tokens of a swap of coins: those that the event names, else the only token that the pool moved in this amount. */
export function coinsMoved(
  pool: PoolId,
  { tokenIn, tokenOut, amountIn, amountOut }: TokenAmounts,
  transfers: readonly TokenTransfer[],
): Pick<TokenAmounts, 'tokenIn' | 'tokenOut'> {
  return {
    tokenIn: tokenIn ?? only(tokensOfAmount(pool, amountIn, transfers)),
    tokenOut: tokenOut ?? only(tokensOfAmount(pool, -amountOut, transfers)),
  };
}

function only(tokens: readonly Address[]): Address | null {
  return tokens.length === 1 ? (tokens[0] ?? null) : null;
}

/** Tokens of which this amount moved: into the pool, or out of it if negative. */
function tokensOfAmount(pool: PoolId, amount: bigint, transfers: readonly TokenTransfer[]): readonly Address[] {
  const value = amount < 0n ? -amount : amount;
  const found = transfers.filter((one) => one.value === value && (amount < 0n ? one.from : one.to) === pool);
  return [...new Set(found.map(({ token }) => token))];
}
