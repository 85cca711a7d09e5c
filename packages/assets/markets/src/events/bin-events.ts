import { bigIntAt } from '@chainstead/events/abi';
import { type EventLog, eventLayout, fitsUnsigned } from './event-layout.ts';
import type { SwapEvent } from './pool-event.ts';
import type { PoolEventDecoder } from './pool-event-decoder.ts';

const LOW_128 = (1n << 128n) - 1n;

/** One log per bin. Amounts include the fee, so that they add up to transfers (dexes.md 2, 3). */
export const binEvents: readonly PoolEventDecoder[] = [
  {
    event: eventLayout('Swap(address,address,uint256,bool,uint256,uint256,uint256,uint256)', 4, 5),
    hasState: true,
    decode: (log) => {
      const [isXIn, amountIn, amountOut] = [bigIntAt(log.data, 0), bigIntAt(log.data, 1), bigIntAt(log.data, 2)];
      const [paid, received] = [amountIn + bigIntAt(log.data, 4), -amountOut];
      if (isXIn > 1n) return null;
      const [amount0, amount1] = isXIn === 1n ? [paid, received] : [received, paid];
      return binSwap(log, BigInt(log.topics[3] ?? '0x0'), amount0, amount1);
    },
  },
  {
    event: eventLayout('Swap(address,address,uint24,bytes32,bytes32,uint24,bytes32,bytes32)', 3, 6),
    hasState: true,
    decode: (log) => {
      const amountAt = (word: number, shift: bigint) => (bigIntAt(log.data, word) >> shift) & LOW_128;
      const net = (shift: bigint) => amountAt(1, shift) + amountAt(5, shift) - amountAt(2, shift);
      return binSwap(log, bigIntAt(log.data, 0), net(0n), net(128n));
    },
  },
];

function binSwap(log: EventLog, activeId: bigint, amount0: bigint, amount1: bigint): SwapEvent | null {
  if (!fitsUnsigned(activeId, 24)) return null;
  const amounts = { of: 'sides', amount0, amount1 } as const;
  return { kind: 'swap', pool: log.address, amounts, state: { of: 'bin', activeId: Number(activeId) } };
}
