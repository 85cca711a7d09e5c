import { bigIntAt } from '@chainstead/events/abi';
import { eventLayout, fitsUnsigned } from './event-layout.ts';
import type { PoolEventDecoder } from './pool-event-decoder.ts';

export const reserveEvents: readonly PoolEventDecoder[] = [
  swapOf('Swap(address,uint256,uint256,uint256,uint256,address)', 4),
  swapOf('Swap(address,address,uint256,uint256,uint256,uint256)', 4),
  swapOf('Swap(address,uint256,uint256,uint256,uint256,address,uint256)', 5),
  syncOf('Sync(uint112,uint112)', 112),
  syncOf('Sync(uint256,uint256)', 256),
  liquidityOf('Mint(address,uint256,uint256)', 2, 'add'),
  liquidityOf('Burn(address,uint256,uint256,address)', 3, 'remove'),
];

/** Net amounts: refunds and flash swaps move a token in both directions. */
function swapOf(signature: string, words: number): PoolEventDecoder {
  return {
    event: eventLayout(signature, 3, words),
    decode: (log) => {
      const [in0, in1, out0, out1] = [0, 1, 2, 3].map((place) => bigIntAt(log.data, place));
      if (in0 === undefined || in1 === undefined || out0 === undefined || out1 === undefined) return null;
      const amounts = { of: 'sides', amount0: in0 - out0, amount1: in1 - out1 } as const;
      return { kind: 'swap', pool: log.address, amounts, state: null };
    },
  };
}

function syncOf(signature: string, bits: number): PoolEventDecoder {
  return {
    event: eventLayout(signature, 1, 2),
    hasState: true,
    decode: ({ address, data }) => {
      const [reserve0, reserve1] = [bigIntAt(data, 0), bigIntAt(data, 1)];
      if (!fitsUnsigned(reserve0, bits) || !fitsUnsigned(reserve1, bits)) return null;
      return { kind: 'state', pool: address, state: { of: 'reserves', reserve0, reserve1 } };
    },
  };
}

function liquidityOf(signature: string, topics: number, change: 'add' | 'remove'): PoolEventDecoder {
  const sign = change === 'add' ? 1n : -1n;
  return {
    event: eventLayout(signature, topics, 2),
    decode: ({ address, data }) => ({
      kind: 'liquidity',
      pool: address,
      change,
      amounts: { of: 'sides', amount0: sign * bigIntAt(data, 0), amount1: sign * bigIntAt(data, 1) },
      range: null,
    }),
  };
}
