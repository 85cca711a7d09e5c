import type { Address, Hex } from '@chainstead/core';
import { defineEvent } from '@chainstead/events/decoding';
import type { SwapEvent } from './pool-event.ts';
import { type PoolEventDecoder, poolEvent } from './pool-event-decoder.ts';

/** LBPair.sol 2.0 */
export const BIN_SWAP_1 = defineEvent(
  'event Swap(address indexed, address indexed, uint256 indexed id, bool isXIn, uint256 amountIn, uint256 amountOut, uint256, uint256 fees)',
);
/** LBPair.sol 2.1 and 2.2. Words hold the amounts of both tokens. */
export const BIN_SWAP_2 = defineEvent(
  'event Swap(address indexed, address indexed, uint24 id, bytes32 amountsIn, bytes32 amountsOut, uint24, bytes32, bytes32 protocolFees)',
);

/** One log per bin. Amounts include the fee, so that they add up to transfers (dexes.md 2, 3). */
export const binEvents: readonly PoolEventDecoder[] = [
  poolEvent(BIN_SWAP_1, { hasState: true }, ({ id, isXIn, amountIn, amountOut, fees }, pool) => {
    const [paid, received] = [amountIn + fees, -amountOut];
    return fitsUnsigned(id, BIN_BITS)
      ? binSwap(pool, Number(id), isXIn ? [paid, received] : [received, paid])
      : null;
  }),
  poolEvent(BIN_SWAP_2, { hasState: true }, ({ id, amountsIn, amountsOut, protocolFees }, pool) => {
    const [paid, fees, received] = [amountsOf(amountsIn), amountsOf(protocolFees), amountsOf(amountsOut)];
    return binSwap(pool, id, [paid[0] + fees[0] - received[0], paid[1] + fees[1] - received[1]]);
  }),
];

export const BIN_BITS = 24;
const LOW_128 = (1n << 128n) - 1n;

export type BinAmounts = readonly [amount0: bigint, amount1: bigint];

/** X is in the low half of a word, Y in the high half. */
export function amountsOf(word: Hex): BinAmounts {
  const value = BigInt(word);
  return [value & LOW_128, value >> 128n];
}

export function fitsUnsigned(value: bigint, bits: number): boolean {
  return BigInt.asUintN(bits, value) === value;
}

function binSwap(pool: Address, activeId: number, [amount0, amount1]: BinAmounts): SwapEvent {
  return { kind: 'swap', pool, amounts: { of: 'sides', amount0, amount1 }, state: { of: 'bin', activeId } };
}
