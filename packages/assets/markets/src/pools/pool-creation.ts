import { type Address, type Hash, keccak256, keccak256Hex, type Log, ZERO_ADDRESS } from '@chainstead/core';
import { type DefinedEvent, defineEvent } from '@chainstead/events/decoding';
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

interface PoolCreation extends PoolFacts {
  readonly pool: PoolId;
}

export interface PoolCreationEvent {
  readonly topic: Hash;
  /** Null for another event. */
  decode(log: Pick<Log, 'topics' | 'data'>): PoolCreation | null;
}

const TOKENS = 'address indexed token0, address indexed token1';

// Parameters have the names of the facts.
export const pairCreated = ofPair(defineEvent(`event PairCreated(${TOKENS}, address pool, uint256)`));
export const solidlyPairCreated = ofPair(
  defineEvent(`event PairCreated(${TOKENS}, bool isStable, address pool, uint256)`),
);
export const stablePoolCreated = ofPair(
  defineEvent(`event PoolCreated(${TOKENS}, bool indexed isStable, address pool, uint256)`),
);
export const feePoolCreated = ofPair(
  defineEvent(`event PoolCreated(${TOKENS}, uint24 indexed fee, int24 tickSpacing, address pool)`),
);
/** Slipstream: the fee can change. */
export const spacedPoolCreated = ofPair(
  defineEvent(`event PoolCreated(${TOKENS}, int24 indexed tickSpacing, address pool)`),
);
export const algebraPool = ofPair(defineEvent(`event Pool(${TOKENS}, address pool)`));
export const algebraCustomPool = ofPair(
  defineEvent(`event CustomPool(address indexed, ${TOKENS}, address pool)`),
);
export const binPairCreated = ofPair(
  defineEvent(`event LBPairCreated(${TOKENS}, uint256 indexed binStep, address pool, uint256)`),
  ({ binStep }) => ({ tickSpacing: Number(binStep) }),
);
export const managedPoolInitialized = ofPair(
  defineEvent(
    `event Initialize(bytes32 indexed pool, ${TOKENS}, uint24 fee, int24 tickSpacing, address hooks, uint160, int24)`,
  ),
);
/** PancakeSwap Infinity: tick spacing in bits 16 to 39 of the parameters. */
export const infinityPoolInitialized = ofPair(
  defineEvent(
    `event Initialize(bytes32 indexed pool, ${TOKENS}, address hooks, uint24 fee, bytes32 parameters, uint160, int24)`,
  ),
  ({ parameters }) => ({ tickSpacing: Number(BigInt.asIntN(24, BigInt(parameters) >> 16n)) }),
);
export const vaultPoolRegistered = ofPool(
  defineEvent('event PoolRegistered(bytes32 indexed pool, address indexed, uint8)'),
);
export const smartPoolCreated = ofPool(defineEvent('event LOG_NEW_POOL(address indexed, address indexed pool)'));

type FactsOfEvent = Partial<Omit<PoolFacts, 'tokens'>>;

interface PairValues extends FactsOfEvent {
  readonly token0: Address;
  readonly token1: Address;
  readonly pool: PoolId;
}

/** @param toFacts of parameters that are no facts yet */
function ofPair<Values extends PairValues>(
  event: DefinedEvent<Values>,
  toFacts: (values: Values) => FactsOfEvent = () => ({}),
): PoolCreationEvent {
  return {
    topic: event.topic,
    decode(log) {
      const values = event.read(log);
      if (values === null) return null;
      const { token0, token1, pool, fee = null, tickSpacing = null, isStable = null, hooks = null } = values;
      const facts = { fee, tickSpacing, isStable, hooks: hooks === ZERO_ADDRESS ? null : hooks };
      return { pool, tokens: [token0, token1], ...facts, ...toFacts(values) };
    },
  };
}

function ofPool(event: DefinedEvent<{ readonly pool: PoolId }>): PoolCreationEvent {
  return {
    topic: event.topic,
    decode(log) {
      const values = event.read(log);
      if (values === null) return null;
      return { pool: values.pool, tokens: null, fee: null, tickSpacing: null, isStable: null, hooks: null };
    },
  };
}

/** CREATE2 (EIP-1014). */
export function create2Address(origin: Address, salt: Uint8Array, initCodeHash: Hash): Address {
  const digest = keccak256(Buffer.concat([Buffer.from([0xff]), bytesOf(origin), salt, bytesOf(initCodeHash)]));
  return `0x${digest.subarray(12).toString('hex')}` as Address;
}

export function cloneHash(implementation: Address): Hash {
  return keccak256Hex(
    Buffer.concat([
      bytesOf('0x3d602d80600a3d3981f3363d3d373d3d3d363d73'),
      bytesOf(implementation),
      bytesOf('0x5af43d82803e903d91602b57fd5bf3'),
    ]),
  );
}

export function packedSalt(token0: Address, token1: Address, suffix: readonly number[] = []): Uint8Array {
  return keccak256(Buffer.concat([bytesOf(token0), bytesOf(token1), Buffer.from(suffix)]));
}

/** keccak256 of 32-byte words; two's complement. */
export function wordSalt(token0: Address, token1: Address, ...numbers: readonly number[]): Uint8Array {
  const words = [BigInt(token0), BigInt(token1), ...numbers.map(BigInt)];
  const digits = words.map((word) => BigInt.asUintN(256, word).toString(16).padStart(64, '0')).join('');
  return keccak256(Buffer.from(digits, 'hex'));
}

function bytesOf(hex: string): Buffer {
  return Buffer.from(hex.slice(2), 'hex');
}

/** First and last four bytes of the id as int64. Pools may share one: compare the id too. */
export function poolKey(pool: PoolId): string {
  return BigInt.asIntN(64, BigInt(pool.slice(0, 10) + pool.slice(-8))).toString();
}
