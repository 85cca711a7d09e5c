import { type Address, type Hash, type Hex, keccak256Hex, ZERO_ADDRESS } from '@chainstead/core';
import { addressAt, bigIntAt, returnedWord, wordCount } from '@chainstead/events/abi';
import type { PoolId } from '../events/pool-event.ts';
import type { PoolCreationEvent, PoolFacts } from '../pools/pool-creation.ts';

/** Calls of the pool only choose the question: the exchange's own result counts. */
export type PoolProof = ProofByArguments | ProofByAddress | ProofByKey;

export interface ProofByArguments {
  readonly by: 'arguments';
  readonly namesFactory: Hex;
  readonly membership: Membership | null;
  readonly hints: readonly Hint[];
  readonly questions: readonly FactoryQuestion[];
  readonly search: CreationSearch | null;
}

export interface ProofByAddress {
  readonly by: 'address';
  readonly membership: Membership;
}

export interface ProofByKey {
  readonly by: 'key';
  readonly reader: 'factory' | 'keyReader';
  keyOf(pool: PoolId): Hex;
  decode(returned: Hex, pool: PoolId): PoolFacts | null;
  readonly search: CreationSearch | null;
}

export interface CreationSearch {
  readonly event: Pick<PoolCreationEvent, 'topic'>;
  /** Alternatives for topics 1 to 3; null: any. */
  topics(pools: readonly SearchedPool[]): readonly (readonly Hash[] | null)[];
  confirms(pool: PoolId, facts: PoolFacts): boolean;
}

export interface SearchedPool {
  readonly pool: PoolId;
  readonly tokens: readonly [Address, Address] | null;
}

export interface Membership {
  ask(pool: PoolId): Hex;
  isMember(returned: Hex): boolean;
}

export interface Hint {
  readonly of: keyof PoolHints;
  readonly data: Hex;
}

/** Null: no result, or a malformed one. */
export interface PoolHints {
  readonly token0: Address | null;
  readonly token1: Address | null;
  readonly fee: number | null;
  readonly tickSpacing: number | null;
  readonly isStable: boolean | null;
}

export interface FactoryQuestion {
  /** Null: a hint is missing. Facts hold if the factory returns the pool. */
  ask(hints: PoolHints): { readonly data: Hex; readonly facts: PoolFacts } | null;
  readonly word: number;
  readonly tiers: PoolTiers;
}

export interface PoolTiers {
  readonly all: readonly PoolTier[];
  /** Returns zero for a kind without pools; null: no such getter. */
  readonly enabled: ((tier: PoolTier) => Hex) | null;
}

export type PoolTier = Partial<Omit<PoolHints, 'token0' | 'token1'>>;
export const NO_FACTS: PoolFacts = { tokens: null, fee: null, tickSpacing: null, isStable: null, hooks: null };

export function callData(signature: string, ...words: readonly (bigint | Hex | number)[]): Hex {
  const selector = keccak256Hex(Buffer.from(signature)).slice(0, 10);
  return `${selector}${words.map(wordOf).join('')}` as Hex;
}

/** Without prefix; negative numbers in two's complement. */
export function wordOf(value: bigint | Hex | number): string {
  return BigInt.asUintN(256, BigInt(value)).toString(16).padStart(64, '0');
}

export function readHints(returned: (of: keyof PoolHints) => Hex | null): PoolHints {
  const read = <T>(of: keyof PoolHints, parse: (word: Hex) => T | null): T | null => {
    const word = returnedWord(returned(of));
    return word === null ? null : parse(word);
  };
  return {
    token0: read('token0', tokenOf),
    token1: read('token1', tokenOf),
    fee: read('fee', (word) => (BigInt(word) >> 24n === 0n ? Number(word) : null)),
    tickSpacing: read('tickSpacing', (word) => {
      const spacing = BigInt.asIntN(256, BigInt(word));
      return BigInt.asIntN(24, spacing) === spacing ? Number(spacing) : null;
    }),
    isStable: read('isStable', (word) => (BigInt(word) > 1n ? null : BigInt(word) === 1n)),
  };
}

function tokenOf(word: Hex): Address | null {
  const token = addressAt(word);
  return token === ZERO_ADDRESS ? null : token;
}

export function isTrue(returned: Hex): boolean {
  const word = returnedWord(returned);
  return word !== null && BigInt(word) === 1n;
}

export function hasAddress(returned: Hex): boolean {
  const words = wordCount(returned) ?? 0;
  const isVariable = words > 1 && bigIntAt(returned, 0) === 32n;
  return words > 0 && bigIntAt(returned, isVariable ? 1 : 0) > 0n;
}
