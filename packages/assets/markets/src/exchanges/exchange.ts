import { type Address, type Hash, parseAddress, parseHash } from '@chainstead/core';
import { cloneHash } from '../pools/pool-creation.ts';
import type { ExchangeFamily } from './families.ts';

export interface Exchange {
  readonly name: string;
  readonly family: ExchangeFamily;
  readonly deployments: readonly Deployment[];
}

export interface Deployment {
  readonly chainId: number;
  readonly factory: Address;
  readonly firstBlock: number | null;
  readonly addressRule: AddressRule | null;
  /** Null: none, or the factory returns keys. A hint: the key is hashed. */
  readonly keyReader: Address | null;
}

/** CREATE2 (EIP-1014): keccak256(0xff ++ origin ++ salt ++ initCodeHash), last 20 bytes. */
export interface AddressRule {
  readonly origin: Address;
  readonly initCodeHash: Hash;
}

/** `firstBlock` null: unknown. `rule`: if it differs from the exchange's; null: none. */
export type DeploymentFacts = readonly [
  chainId: number,
  factory: string,
  firstBlock: number | null,
  rule?: RuleFacts | null,
  keyReader?: string,
];

/** Init code hash of pools, or the contract of minimal proxies (EIP-1167). */
export type RuleFacts =
  | string
  | { readonly initCodeHash: string; readonly deployer: string }
  | { readonly cloneOf: string };

/** @throws InvalidPrimitiveError for a malformed address or hash */
export function exchange(
  name: string,
  family: ExchangeFamily,
  rule: RuleFacts | null,
  deployments: readonly DeploymentFacts[],
): Exchange {
  return {
    name,
    family,
    deployments: deployments.map(([chainId, factory, firstBlock, own = rule, keyReader]) => ({
      chainId,
      factory: parseAddress(factory),
      firstBlock,
      addressRule: own === null ? null : addressRule(parseAddress(factory), own),
      keyReader: keyReader === undefined ? null : parseAddress(keyReader),
    })),
  };
}

function addressRule(factory: Address, rule: RuleFacts): AddressRule {
  if (typeof rule === 'string') return { origin: factory, initCodeHash: parseHash(rule) };
  if ('cloneOf' in rule) return { origin: factory, initCodeHash: cloneHash(parseAddress(rule.cloneOf)) };
  return { origin: parseAddress(rule.deployer), initCodeHash: parseHash(rule.initCodeHash) };
}
