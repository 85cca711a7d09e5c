import type { Address, Hex } from '@chainstead/core';
import { type DefinedEvent, defineEvent } from '@chainstead/events/decoding';
import { STATE, type StateValues } from './concentrated-events.ts';
import { type PoolEventDecoder, type PoolId, poolEvent, type SideAmounts } from './pool-event.ts';

const POOL = 'bytes32 indexed pool';
const SWAP = `${POOL}, address indexed, int128 amount0, int128 amount1` as const;
const TOKEN_SWAP = 'address indexed tokenIn, address indexed tokenOut, uint256 amountIn, uint256 amountOut';
const TOKENS = 'address indexed, address indexed';
const PRICE = 'uint160 sqrtPriceX96, int24 tick';
const VAULT = { isVault: true };
const VAULT_STATE = { isVault: true, hasState: true };

/** Uniswap v4, PancakeSwap Infinity, Balancer v2 and v3 (dexes.md 2). */
export const managerEvents: readonly PoolEventDecoder[] = [
  firstPriceOf(defineEvent(`event Initialize(${POOL}, ${TOKENS}, uint24, int24, address, ${PRICE})`)),
  firstPriceOf(defineEvent(`event Initialize(${POOL}, ${TOKENS}, address, uint24, bytes32, ${PRICE})`)),
  swapOf(defineEvent(`event Swap(${SWAP}, ${STATE}, uint24)`)),
  swapOf(defineEvent(`event Swap(${SWAP}, ${STATE}, uint24, uint16)`)),
  poolEvent(
    defineEvent(`event Swap(${SWAP}, uint24 activeId, uint24, uint16)`),
    VAULT_STATE,
    ({ pool, activeId, ...amounts }) => ({
      ...{ kind: 'swap', pool },
      amounts: poolAmounts(amounts),
      state: { of: 'bin', activeId },
    }),
  ),
  poolEvent(
    defineEvent(
      `event ModifyLiquidity(${POOL}, address indexed, int24 tickLower, int24 tickUpper, int256 liquidityDelta, bytes32)`,
    ),
    VAULT,
    ({ pool, ...range }) => {
      if (range.liquidityDelta === 0n) return null;
      const change = range.liquidityDelta > 0n ? 'add' : 'remove';
      return { kind: 'liquidity', pool, change, amounts: null, range };
    },
  ),
  tokenSwapOf(defineEvent(`event Swap(${POOL}, ${TOKEN_SWAP})`)),
  tokenSwapOf(defineEvent(`event Swap(address indexed pool, ${TOKEN_SWAP}, uint256, uint256)`)),
];

type CallerAmounts = Omit<SideAmounts, 'of'>;

function swapOf(event: DefinedEvent<StateValues & CallerAmounts & { readonly pool: Hex }>): PoolEventDecoder {
  return poolEvent(event, VAULT_STATE, ({ pool, sqrtPriceX96, liquidity, tick, ...amounts }) => ({
    ...{ kind: 'swap', pool },
    amounts: poolAmounts(amounts),
    state: { of: 'price', sqrtPriceX96, liquidity, tick },
  }));
}

/** Negative is into the pool: managers count from the caller's side. */
function poolAmounts({ amount0, amount1 }: CallerAmounts): SideAmounts {
  return { of: 'sides', amount0: -amount0, amount1: -amount1 };
}

function firstPriceOf(
  event: DefinedEvent<Omit<StateValues, 'liquidity'> & { readonly pool: PoolId }>,
): PoolEventDecoder {
  return poolEvent(event, VAULT_STATE, ({ pool, ...price }) => ({
    ...{ kind: 'state', pool },
    state: { of: 'price', liquidity: 0n, ...price },
  }));
}

interface TokenSwap {
  readonly pool: PoolId;
  readonly tokenIn: Address;
  readonly tokenOut: Address;
  readonly amountIn: bigint;
  readonly amountOut: bigint;
}

function tokenSwapOf(event: DefinedEvent<TokenSwap>): PoolEventDecoder {
  return poolEvent(event, VAULT, ({ pool, ...amounts }) => ({
    ...{ kind: 'swap', pool },
    amounts: { of: 'tokens', ...amounts },
    state: null,
  }));
}
