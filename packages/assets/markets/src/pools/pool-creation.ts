import type { Address } from '@chainstead/core';
import { addressAt, bigIntAt } from '@chainstead/events/abi';
import {
  type EventLayout,
  type EventLog,
  eventLayout,
  signedAt,
  signedTopic,
  topicAddress,
} from '../events/event-layout.ts';
import type { PoolId } from '../events/pool-event.ts';

export interface PoolFacts {
  /** Null: any number of tokens. The zero address is the native token (Uniswap v4). */
  readonly tokens: readonly [token0: Address, token1: Address] | null;
  /** Parts per million; null: not fixed. 0x800000 in Uniswap v4: the hook sets it at each swap. */
  readonly fee: number | null;
  /** Ticks, or basis points between bins; null: neither. */
  readonly tickSpacing: number | null;
  /** Solidly's stable pairs have another price formula; null: another kind of pool. */
  readonly isStable: boolean | null;
  /** The pool calls it at each swap and change; null: none. */
  readonly hooks: Address | null;
}

export interface PoolCreation extends PoolFacts {
  readonly pool: PoolId;
}

export interface PoolCreationEvent {
  readonly event: EventLayout;
  decode(log: EventLog): PoolCreation | null;
}

const NO_FACTS = { fee: null, tickSpacing: null, isStable: null, hooks: null } as const;

export const pairCreated = ofPair('PairCreated(address,address,address,uint256)', [3, 2], ({ data }) => ({
  pool: addressAt(data),
}));

export const solidlyPairCreated = ofPair('PairCreated(address,address,bool,address,uint256)', [3, 3], ({ data }) => ({
  pool: addressAt(data, 1),
  isStable: bigIntAt(data, 0) !== 0n,
}));

export const stablePoolCreated = ofPair('PoolCreated(address,address,bool,address,uint256)', [4, 2], (log) => ({
  pool: addressAt(log.data),
  isStable: signedTopic(log, 3) !== 0n,
}));

export const feePoolCreated = ofPair('PoolCreated(address,address,uint24,int24,address)', [4, 2], (log) => ({
  pool: addressAt(log.data, 1),
  fee: Number(signedTopic(log, 3)),
  tickSpacing: Number(signedAt(log, 0)),
}));

/** Slipstream: the fee can change. */
export const spacedPoolCreated = ofPair('PoolCreated(address,address,int24,address)', [4, 1], (log) => ({
  pool: addressAt(log.data),
  tickSpacing: Number(signedTopic(log, 3)),
}));

export const algebraPool = ofPair('Pool(address,address,address)', [3, 1], ({ data }) => ({ pool: addressAt(data) }));

export const algebraCustomPool = ofPair(
  'CustomPool(address,address,address,address)',
  [4, 1],
  ({ data }) => ({ pool: addressAt(data) }),
  2,
);

export const binPairCreated = ofPair('LBPairCreated(address,address,uint256,address,uint256)', [4, 2], (log) => ({
  pool: addressAt(log.data),
  tickSpacing: Number(signedTopic(log, 3)),
}));

export const managedPoolInitialized = ofPair(
  'Initialize(bytes32,address,address,uint24,int24,address,uint160,int24)',
  [4, 5],
  (log) => ({
    pool: log.topics[1] ?? null,
    fee: Number(bigIntAt(log.data, 0)),
    tickSpacing: Number(signedAt(log, 1)),
    hooks: hooksAt(log, 2),
  }),
  2,
);

/** PancakeSwap Infinity: tick spacing in bits 16 to 39 of the parameters. */
export const infinityPoolInitialized = ofPair(
  'Initialize(bytes32,address,address,address,uint24,bytes32,uint160,int24)',
  [4, 5],
  (log) => ({
    pool: log.topics[1] ?? null,
    fee: Number(bigIntAt(log.data, 1)),
    tickSpacing: Number(BigInt.asIntN(24, bigIntAt(log.data, 2) >> 16n)),
    hooks: hooksAt(log, 0),
  }),
  2,
);

export const vaultPoolRegistered: PoolCreationEvent = {
  event: eventLayout('PoolRegistered(bytes32,address,uint8)', 3, 1),
  decode: (log) => ({ pool: log.topics[1] ?? '0x', tokens: null, ...NO_FACTS }),
};

export const smartPoolCreated: PoolCreationEvent = {
  event: eventLayout('LOG_NEW_POOL(address,address)', 3, 0),
  decode: (log) => {
    const pool = topicAddress(log, 2);
    return pool === null ? null : { pool, tokens: null, ...NO_FACTS };
  },
};

function ofPair(
  signature: string,
  [topics, words]: readonly [number, number],
  read: (log: EventLog) => Partial<Omit<PoolFacts, 'tokens'>> & { readonly pool: PoolId | null },
  tokenTopic = 1,
): PoolCreationEvent {
  return {
    event: eventLayout(signature, topics, words),
    decode(log) {
      const [token0, token1] = [topicAddress(log, tokenTopic), topicAddress(log, tokenTopic + 1)];
      const { pool, ...facts } = read(log);
      if (token0 === null || token1 === null || pool === null) return null;
      return { ...NO_FACTS, ...facts, pool, tokens: [token0, token1] };
    },
  };
}

function hooksAt(log: EventLog, word: number): Address | null {
  return bigIntAt(log.data, word) === 0n ? null : addressAt(log.data, word);
}
