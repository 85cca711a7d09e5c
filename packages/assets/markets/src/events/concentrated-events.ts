import { type DefinedEvent, defineEvent } from '@chainstead/events/decoding';
import { type ConcentratedState, type PoolEventDecoder, poolEvent, type SideAmounts } from './pool-event.ts';

/** Values of these names are a {@link ConcentratedState}. */
export const STATE = 'uint160 sqrtPriceX96, uint128 liquidity, int24 tick';
const SWAP = `address indexed, address indexed, int256 amount0, int256 amount1, ${STATE}` as const;
const RANGE = 'address indexed, int24 indexed tickLower, int24 indexed tickUpper';
const CHANGE = 'uint128 liquidity, uint256 amount0, uint256 amount1';

/** Uniswap v3 and forks, PancakeSwap v3, Slipstream, Algebra (dexes.md 2). */
export const concentratedEvents: readonly PoolEventDecoder[] = [
  swapOf(defineEvent(`event Swap(${SWAP})`)),
  swapOf(defineEvent(`event Swap(${SWAP}, uint128, uint128)`)),
  swapOf(defineEvent(`event Swap(${SWAP}, uint24, uint24)`)),
  poolEvent(
    defineEvent('event Initialize(uint160 sqrtPriceX96, int24 tick)'),
    { hasState: true },
    ({ sqrtPriceX96, tick }, pool) => ({
      ...{ kind: 'state', pool },
      state: { of: 'price', sqrtPriceX96, liquidity: 0n, tick },
    }),
  ),
  liquidityOf(defineEvent(`event Mint(address, ${RANGE}, ${CHANGE})`), 'add'),
  // Amounts are owed to the owner, and leave the pool with a later Collect.
  liquidityOf(defineEvent(`event Burn(${RANGE}, ${CHANGE})`), 'remove'),
];

export type StateValues = Omit<ConcentratedState, 'of'>;
type Amounts = Omit<SideAmounts, 'of'>;

function swapOf(event: DefinedEvent<StateValues & Amounts>): PoolEventDecoder {
  return poolEvent(event, { hasState: true }, ({ amount0, amount1, sqrtPriceX96, liquidity, tick }, pool) => {
    const state = { of: 'price', sqrtPriceX96, liquidity, tick } as const;
    return { kind: 'swap', pool, amounts: { of: 'sides', amount0, amount1 }, state };
  });
}

interface RangeChange extends Amounts {
  readonly tickLower: number;
  readonly tickUpper: number;
  readonly liquidity: bigint;
}

function liquidityOf(event: DefinedEvent<RangeChange>, change: 'add' | 'remove'): PoolEventDecoder {
  const sign = change === 'add' ? 1n : -1n;
  return poolEvent(event, {}, ({ tickLower, tickUpper, liquidity, amount0, amount1 }, pool) => {
    // A change of 0 only collects fees.
    if (liquidity === 0n) return null;
    const amounts = { of: 'sides', amount0: sign * amount0, amount1: sign * amount1 } as const;
    const range = { tickLower, tickUpper, liquidityDelta: sign * liquidity };
    return { kind: 'liquidity', pool, change, amounts, range };
  });
}
