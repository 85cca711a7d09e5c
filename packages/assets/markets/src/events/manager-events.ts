import { addressAt, bigIntAt } from '@chainstead/events/abi';
import { concentratedState } from './concentrated-events.ts';
import { type EventLog, eventLayout, fitsSigned, fitsUnsigned, signedAt } from './event-layout.ts';
import type { PoolId, SideAmounts } from './pool-event.ts';
import type { PoolEventDecoder } from './pool-event-decoder.ts';

/** Uniswap v4, PancakeSwap Infinity, Balancer v2 and v3 (dexes.md 2). */
export const managerEvents: readonly PoolEventDecoder[] = [
  firstPriceOf('Initialize(bytes32,address,address,uint24,int24,address,uint160,int24)'),
  firstPriceOf('Initialize(bytes32,address,address,address,uint24,bytes32,uint160,int24)'),
  swapOf('Swap(bytes32,address,int128,int128,uint160,uint128,int24,uint24)', 6),
  swapOf('Swap(bytes32,address,int128,int128,uint160,uint128,int24,uint24,uint16)', 7),
  {
    event: eventLayout('Swap(bytes32,address,int128,int128,uint24,uint24,uint16)', 3, 5),
    isVault: true,
    hasState: true,
    decode: (log) => {
      const [pool, amounts, activeId] = [poolOf(log), callerAmounts(log), bigIntAt(log.data, 2)];
      if (pool === null || amounts === null || !fitsUnsigned(activeId, 24)) return null;
      return { kind: 'swap', pool, amounts, state: { of: 'bin', activeId: Number(activeId) } };
    },
  },
  {
    event: eventLayout('ModifyLiquidity(bytes32,address,int24,int24,int256,bytes32)', 3, 4),
    isVault: true,
    decode: (log) => {
      const [pool, lower, upper, liquidityDelta] = [poolOf(log), signedAt(log, 0), signedAt(log, 1), signedAt(log, 2)];
      if (pool === null || liquidityDelta === 0n || !fitsSigned(lower, 24) || !fitsSigned(upper, 24)) return null;
      const range = { tickLower: Number(lower), tickUpper: Number(upper), liquidityDelta };
      return { kind: 'liquidity', pool, change: liquidityDelta > 0n ? 'add' : 'remove', amounts: null, range };
    },
  },
  {
    event: eventLayout('Swap(bytes32,address,address,uint256,uint256)', 4, 2),
    isVault: true,
    decode: (log) => tokenSwap(log, poolOf(log)),
  },
  {
    event: eventLayout('Swap(address,address,address,uint256,uint256,uint256,uint256)', 4, 4),
    isVault: true,
    decode: (log) => tokenSwap(log, addressAt(log.topics[1])),
  },
];

function swapOf(signature: string, words: number): PoolEventDecoder {
  return {
    event: eventLayout(signature, 3, words),
    isVault: true,
    hasState: true,
    decode: (log) => {
      const [pool, amounts] = [poolOf(log), callerAmounts(log)];
      const state = concentratedState(bigIntAt(log.data, 2), bigIntAt(log.data, 3), signedAt(log, 4));
      return pool === null || amounts === null || state === null ? null : { kind: 'swap', pool, amounts, state };
    },
  };
}

/** Negative is into the pool: managers count from the caller's side. */
function callerAmounts(log: EventLog): SideAmounts | null {
  const [amount0, amount1] = [signedAt(log, 0), signedAt(log, 1)];
  if (!fitsSigned(amount0, 128) || !fitsSigned(amount1, 128)) return null;
  return { of: 'sides', amount0: -amount0, amount1: -amount1 };
}

function firstPriceOf(signature: string): PoolEventDecoder {
  return {
    event: eventLayout(signature, 4, 5),
    isVault: true,
    hasState: true,
    decode: (log) => {
      const pool = poolOf(log);
      const state = concentratedState(bigIntAt(log.data, 3), 0n, signedAt(log, 4));
      return pool === null || state === null ? null : { kind: 'state', pool, state };
    },
  };
}

function tokenSwap(log: EventLog, pool: PoolId | null) {
  const [tokenIn, tokenOut] = [addressAt(log.topics[2]), addressAt(log.topics[3])];
  if (pool === null || tokenIn === null || tokenOut === null) return null;
  const [amountIn, amountOut] = [bigIntAt(log.data, 0), bigIntAt(log.data, 1)];
  const amounts = { of: 'tokens', tokenIn, tokenOut, amountIn, amountOut } as const;
  return { kind: 'swap', pool, amounts, state: null } as const;
}

function poolOf(log: EventLog): PoolId | null {
  return log.topics[1] ?? null;
}
