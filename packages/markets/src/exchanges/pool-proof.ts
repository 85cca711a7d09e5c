import { addressAt, bigIntAt, returnedWord, wordCount } from '@chainstead/abi';
import { type Address, type Hash, type Hex, keccak256Hex, ZERO_ADDRESS } from '@chainstead/core';
import type { EventLayout } from '../events/event-layout.ts';
import type { PoolId } from '../events/pool-event.ts';
import type { PoolFacts } from '../pools/pool-creation.ts';

/**
 * How a factory, vault or pool manager acknowledges a pool. Calls of the pool itself are hints that choose the question: any contract can
 * return anything. Only the exchange's own result counts.
 */
export type PoolProof = ProofByArguments | ProofByAddress | ProofByKey;

/** The factory returns the pool for its tokens and parameters. */
export interface ProofByArguments {
  readonly by: 'arguments';
  /** Getter of the pool that returns its factory. */
  readonly namesFactory: Hex;
  /** For pools without that getter; null: all have it. */
  readonly membership: Membership | null;
  readonly hints: readonly Hint[];
  /** One after the other, until one returns the pool. */
  readonly questions: readonly FactoryQuestion[];
  /** For pools that no question returns although the factory may have created them; null: there are none. */
  readonly search: CreationSearch | null;
}

/** The factory or vault returns whether an address or id is one of its pools. */
export interface ProofByAddress {
  readonly by: 'address';
  readonly membership: Membership;
}

/** The pool's id is the hash of its key. */
export interface ProofByKey {
  readonly by: 'key';
  /** Contract that returns keys: the pool manager, or the deployment's `keyReader`. */
  readonly reader: 'factory' | 'keyReader';
  keyOf(pool: PoolId): Hex;
  /** Facts in the key that `returned` is; null: it is not the key of this pool. */
  decode(returned: Hex, pool: PoolId): PoolFacts | null;
  /** For pools whose key the reader doesn't have; null: it has all. */
  readonly search: CreationSearch | null;
}

/** A search for creation events of the factory by their indexed members. */
export interface CreationSearch {
  readonly event: EventLayout;
  /** Alternatives for topics 1 to 3 of the events of these pools. Null: any. */
  topics(pools: readonly SearchedPool[]): readonly (readonly Hash[] | null)[];
  /** Whether an event with these facts can be the pool's. */
  confirms(pool: PoolId, facts: PoolFacts): boolean;
}

export interface SearchedPool {
  readonly pool: PoolId;
  readonly tokens: readonly [Address, Address] | null;
}

/** A question with the pool's address or id as its only argument. */
export interface Membership {
  ask(pool: PoolId): Hex;
  isMember(returned: Hex): boolean;
}

/** Getter of the pool for one argument of the factory's getter. */
export interface Hint {
  readonly of: keyof PoolHints;
  readonly data: Hex;
}

/** Results of the pool's getters; null: none, or a malformed one. */
export interface PoolHints {
  readonly token0: Address | null;
  readonly token1: Address | null;
  readonly fee: number | null;
  readonly tickSpacing: number | null;
  readonly isStable: boolean | null;
}

export interface FactoryQuestion {
  /** Null: a hint is missing. Facts are those of the pool if the factory returns its address. */
  ask(hints: PoolHints): { readonly data: Hex; readonly facts: PoolFacts } | null;
  /** Word of the result with the pool's address. */
  readonly word: number;
  readonly tiers: PoolTiers;
}

/** Kinds of pools that a factory may have created for the same two tokens. */
export interface PoolTiers {
  /** Hints of each kind. None: pools of unknown kinds. */
  readonly all: readonly PoolTier[];
  /** Getter of the factory that returns zero for a kind it has no pools of; null: there is none. */
  readonly enabled: ((tier: PoolTier) => Hex) | null;
}

/** The hints of a pool that don't concern its tokens. */
export type PoolTier = Partial<Omit<PoolHints, 'token0' | 'token1'>>;

export const NO_FACTS: PoolFacts = { tokens: null, fee: null, tickSpacing: null, isStable: null, hooks: null };

/** Call data of a function with static arguments, each one word. */
export function callData(signature: string, ...words: readonly (bigint | Hex | number)[]): Hex {
  const selector = keccak256Hex(Buffer.from(signature)).slice(0, 10);
  return `${selector}${words.map(wordOf).join('')}` as Hex;
}

/** A value as a word without prefix; negative numbers in two's complement. */
export function wordOf(value: bigint | Hex | number): string {
  return BigInt.asUintN(256, BigInt(value)).toString(16).padStart(64, '0');
}

/** Hints of the words that the pool returned, by getter; null: nothing, or no value of the hint's kind. */
export function readHints(returned: (of: keyof PoolHints) => Hex | null): PoolHints {
  const read = <T>(of: keyof PoolHints, parse: (word: Hex) => T | null): T | null => {
    const word = returnedWord(returned(of));
    return word === null ? null : parse(word);
  };
  return {
    token0: read('token0', tokenOf),
    token1: read('token1', tokenOf),
    fee: read('fee', (word) => numberWithin(BigInt(word), 0n, MAX_UINT24)),
    tickSpacing: read('tickSpacing', (word) =>
      numberWithin(BigInt.asIntN(256, BigInt(word)), -MAX_INT24 - 1n, MAX_INT24),
    ),
    isStable: read('isStable', (word) => (BigInt(word) > 1n ? null : BigInt(word) === 1n)),
  };
}

const MAX_UINT24 = (1n << 24n) - 1n;
const MAX_INT24 = (1n << 23n) - 1n;

function tokenOf(word: Hex): Address | null {
  const token = addressAt(word);
  return token === ZERO_ADDRESS ? null : token;
}

function numberWithin(value: bigint, min: bigint, max: bigint): number | null {
  return value < min || value > max ? null : Number(value);
}

/** Whether the result is the word 1. */
export function isTrue(returned: Hex): boolean {
  const word = returnedWord(returned);
  return word !== null && BigInt(word) === 1n;
}

/** Whether a list of addresses, of fixed or variable length, has one. */
export function hasAddress(returned: Hex): boolean {
  const words = wordCount(returned) ?? 0;
  const isVariable = words > 1 && bigIntAt(returned, 0) === 32n;
  return words > 0 && bigIntAt(returned, isVariable ? 1 : 0) > 0n;
}
