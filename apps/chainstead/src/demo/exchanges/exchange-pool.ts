import { type Address, type Hex, keccak256Hex } from '@chainstead/core';
import { encodeAbiParameters } from 'viem';

export interface ExchangePool {
  readonly version: 'v2' | 'v3' | 'v3-pancake' | 'algebra-integral' | 'v4';
  /** Address of the pool; its id in v4. */
  readonly pool: Hex;
  readonly tokens: readonly [token0: Address, token1: Address];
  /** Parts per million; the first fee in Algebra. */
  readonly fee: number;
  /** 0 in v2. */
  readonly tickSpacing: number;
  /** Zero address: none. */
  readonly hooks: Address;
}

export function keyOf({ tokens, fee, tickSpacing, hooks }: Omit<ExchangePool, 'pool'>) {
  return { currency0: tokens[0], currency1: tokens[1], fee, tickSpacing, hooks };
}

export function idOf(pool: Omit<ExchangePool, 'pool'>): Hex {
  const types = ['address', 'address', 'uint24', 'int24', 'address'].map((type) => ({ type }));
  const encoded = encodeAbiParameters(types, Object.values(keyOf(pool)));
  return keccak256Hex(Buffer.from(encoded.slice(2), 'hex'));
}

export function squareRoot(value: bigint): bigint {
  if (value < 2n) return value;
  let root = 1n << BigInt(Math.ceil(value.toString(2).length / 2));
  for (;;) {
    const next = (root + value / root) >> 1n;
    if (next >= root) return root;
    root = next;
  }
}
