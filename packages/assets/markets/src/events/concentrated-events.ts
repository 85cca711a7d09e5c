import { bigIntAt } from '@chainstead/events/abi';
import { type EventLog, eventLayout, fitsSigned, fitsUnsigned, signedAt, signedTopic } from './event-layout.ts';
import type { ConcentratedState, LiquidityEvent } from './pool-event.ts';
import type { PoolEventDecoder } from './pool-event-decoder.ts';

const SWAP = 'Swap(address,address,int256,int256,uint160,uint128,int24';

/** Uniswap v3 and forks, PancakeSwap v3, Slipstream, Algebra (dexes.md 2). */
export const concentratedEvents: readonly PoolEventDecoder[] = [
  swapOf(`${SWAP})`, 5),
  swapOf(`${SWAP},uint128,uint128)`, 7),
  swapOf(`${SWAP},uint24,uint24)`, 7),
  {
    event: eventLayout('Initialize(uint160,int24)', 1, 2),
    hasState: true,
    decode: (log) => {
      const state = concentratedState(bigIntAt(log.data, 0), 0n, signedAt(log, 1));
      return state === null ? null : { kind: 'state', pool: log.address, state };
    },
  },
  {
    event: eventLayout('Mint(address,address,int24,int24,uint128,uint256,uint256)', 4, 4),
    decode: (log) => liquidityChange(log, 'add', 1),
  },
  {
    // Amounts are owed to the owner, and leave the pool with a later Collect.
    event: eventLayout('Burn(address,int24,int24,uint128,uint256,uint256)', 4, 3),
    decode: (log) => liquidityChange(log, 'remove', 0),
  },
];

function swapOf(signature: string, words: number): PoolEventDecoder {
  return {
    event: eventLayout(signature, 3, words),
    hasState: true,
    decode: (log) => {
      const state = concentratedState(bigIntAt(log.data, 2), bigIntAt(log.data, 3), signedAt(log, 4));
      if (state === null) return null;
      const amounts = { of: 'sides', amount0: signedAt(log, 0), amount1: signedAt(log, 1) } as const;
      return { kind: 'swap', pool: log.address, amounts, state };
    },
  };
}

export function concentratedState(sqrtPriceX96: bigint, liquidity: bigint, tick: bigint): ConcentratedState | null {
  if (!fitsUnsigned(sqrtPriceX96, 160) || !fitsUnsigned(liquidity, 128) || !fitsSigned(tick, 24)) return null;
  return { of: 'price', sqrtPriceX96, liquidity, tick: Number(tick) };
}

function liquidityChange(log: EventLog, change: 'add' | 'remove', place: number): LiquidityEvent | null {
  const [lower, upper] = [signedTopic(log, 2), signedTopic(log, 3)];
  const liquidity = bigIntAt(log.data, place);
  // A change of 0 only collects fees.
  if (liquidity === 0n || !fitsSigned(lower, 24) || !fitsSigned(upper, 24) || !fitsUnsigned(liquidity, 128))
    return null;
  const sign = change === 'add' ? 1n : -1n;
  const [amount0, amount1] = [sign * bigIntAt(log.data, place + 1), sign * bigIntAt(log.data, place + 2)];
  const range = { tickLower: Number(lower), tickUpper: Number(upper), liquidityDelta: sign * liquidity };
  return { kind: 'liquidity', pool: log.address, change, amounts: { of: 'sides', amount0, amount1 }, range };
}
