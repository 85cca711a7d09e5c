import { addressAt, bigIntAt } from '@chainstead/abi';
import type { Address } from '@chainstead/core';
import {
  type EventLayout,
  type EventLog,
  eventLayout,
  signedAt,
  signedTopic,
  topicAddress,
} from '../events/event-layout.ts';
import type { PoolId } from '../events/pool-event.ts';

/** Facts that a pool is created with. */
export interface PoolFacts {
  /** Null: the pool may have any number of tokens. The zero address is the native token (Uniswap v4). */
  readonly tokens: readonly [token0: Address, token1: Address] | null;
  /** Parts per million of the amount; null: not fixed by the creation. 0x800000 in Uniswap v4: set by the hook at each swap. */
  readonly fee: number | null;
  /** Ticks, or basis points between bins of Liquidity Book; null: neither. */
  readonly tickSpacing: number | null;
  /** Whether it is a stable pair of Solidly, whose reserves have another price formula; null: not such a pair. */
  readonly isStable: boolean | null;
  /** Contract that the pool calls at each swap and change; null: none. */
  readonly hooks: Address | null;
}

export interface PoolCreation extends PoolFacts {
  readonly pool: PoolId;
}

/** Decodes the event by which a factory announces a pool. */
export interface PoolCreationEvent {
  readonly event: EventLayout;
  /** Null: an address in it is malformed. */
  decode(log: EventLog): PoolCreation | null;
}

const NO_FACTS = { fee: null, tickSpacing: null, isStable: null, hooks: null } as const;

/** Uniswap v2 and forks. */
export const pairCreated: PoolCreationEvent = {
  event: eventLayout('PairCreated(address,address,address,uint256)', 3, 2),
  decode: (log) => creation(topicAddress(log, 1), topicAddress(log, 2), addressAt(log.data), NO_FACTS),
};

/** Solidly, first form. */
export const solidlyPairCreated: PoolCreationEvent = {
  event: eventLayout('PairCreated(address,address,bool,address,uint256)', 3, 3),
  decode: (log) =>
    creation(topicAddress(log, 1), topicAddress(log, 2), addressAt(log.data, 1), {
      ...NO_FACTS,
      isStable: bigIntAt(log.data, 0) !== 0n,
    }),
};

/** Velodrome v2 and Aerodrome. */
export const stablePoolCreated: PoolCreationEvent = {
  event: eventLayout('PoolCreated(address,address,bool,address,uint256)', 4, 2),
  decode: (log) =>
    creation(topicAddress(log, 1), topicAddress(log, 2), addressAt(log.data), {
      ...NO_FACTS,
      isStable: signedTopic(log, 3) !== 0n,
    }),
};

/** Uniswap v3, its forks and PancakeSwap v3. */
export const feePoolCreated: PoolCreationEvent = {
  event: eventLayout('PoolCreated(address,address,uint24,int24,address)', 4, 2),
  decode: (log) =>
    creation(topicAddress(log, 1), topicAddress(log, 2), addressAt(log.data, 1), {
      ...NO_FACTS,
      fee: Number(signedTopic(log, 3)),
      tickSpacing: Number(signedAt(log, 0)),
    }),
};

/** Slipstream: the fee can be changed, so it is not part of the creation. */
export const spacedPoolCreated: PoolCreationEvent = {
  event: eventLayout('PoolCreated(address,address,int24,address)', 4, 1),
  decode: (log) =>
    creation(topicAddress(log, 1), topicAddress(log, 2), addressAt(log.data), {
      ...NO_FACTS,
      tickSpacing: Number(signedTopic(log, 3)),
    }),
};

/** Algebra in all versions: one pool for two tokens. */
export const algebraPool: PoolCreationEvent = {
  event: eventLayout('Pool(address,address,address)', 3, 1),
  decode: (log) => creation(topicAddress(log, 1), topicAddress(log, 2), addressAt(log.data), NO_FACTS),
};

/** Algebra Integral: further pools for two tokens, by a custom deployer. */
export const algebraCustomPool: PoolCreationEvent = {
  event: eventLayout('CustomPool(address,address,address,address)', 4, 1),
  decode: (log) => creation(topicAddress(log, 2), topicAddress(log, 3), addressAt(log.data), NO_FACTS),
};

/** Liquidity Book: token X and token Y in the order of the creator. */
export const binPairCreated: PoolCreationEvent = {
  event: eventLayout('LBPairCreated(address,address,uint256,address,uint256)', 4, 2),
  decode: (log) =>
    creation(topicAddress(log, 1), topicAddress(log, 2), addressAt(log.data), {
      ...NO_FACTS,
      tickSpacing: Number(signedTopic(log, 3)),
    }),
};

/** Uniswap v4: the five members of the pool's key. */
export const managedPoolInitialized: PoolCreationEvent = {
  event: eventLayout('Initialize(bytes32,address,address,uint24,int24,address,uint160,int24)', 4, 5),
  decode: (log) =>
    creation(topicAddress(log, 2), topicAddress(log, 3), log.topics[1] ?? null, {
      ...NO_FACTS,
      fee: Number(bigIntAt(log.data, 0)),
      tickSpacing: Number(signedAt(log, 1)),
      hooks: hooksAt(log, 2),
    }),
};

/** PancakeSwap Infinity, concentrated: the tick spacing is in bits 16 to 39 of the parameters. */
export const infinityPoolInitialized: PoolCreationEvent = {
  event: eventLayout('Initialize(bytes32,address,address,address,uint24,bytes32,uint160,int24)', 4, 5),
  decode: (log) =>
    creation(topicAddress(log, 2), topicAddress(log, 3), log.topics[1] ?? null, {
      ...NO_FACTS,
      fee: Number(bigIntAt(log.data, 1)),
      tickSpacing: Number(BigInt.asIntN(24, bigIntAt(log.data, 2) >> 16n)),
      hooks: hooksAt(log, 0),
    }),
};

/** Balancer v2: tokens follow in other events. */
export const vaultPoolRegistered: PoolCreationEvent = {
  event: eventLayout('PoolRegistered(bytes32,address,uint8)', 3, 1),
  decode: (log) => ({ pool: log.topics[1] ?? '0x', tokens: null, ...NO_FACTS }),
};

/** Balancer v1. */
export const smartPoolCreated: PoolCreationEvent = {
  event: eventLayout('LOG_NEW_POOL(address,address)', 3, 0),
  decode: (log) => {
    const pool = topicAddress(log, 2);
    return pool === null ? null : { pool, tokens: null, ...NO_FACTS };
  },
};

function creation(
  token0: Address | null,
  token1: Address | null,
  pool: PoolId | null,
  facts: Omit<PoolFacts, 'tokens'>,
): PoolCreation | null {
  if (token0 === null || token1 === null || pool === null) return null;
  return { pool, tokens: [token0, token1], ...facts };
}

function hooksAt(log: EventLog, place: number): Address | null {
  return bigIntAt(log.data, place) === 0n ? null : addressAt(log.data, place);
}
