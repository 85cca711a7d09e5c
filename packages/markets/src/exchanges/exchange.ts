import { type Address, type Hash, parseAddress, parseHash } from '@chainstead/core';
import { cloneHash } from '../pools/pool-address.ts';
import type { ExchangeFamily } from './families.ts';

/** An exchange as the API names it, with its factories (of vault families: vaults and pool managers) on all chains. */
export interface Exchange {
  /** `exchangeName` of responses (dexes.md 4). */
  readonly name: string;
  readonly family: ExchangeFamily;
  readonly deployments: readonly Deployment[];
}

export interface Deployment {
  readonly chainId: number;
  /** Creates the pools, or holds them. Addresses are keyed by chain: the same address is another contract elsewhere. */
  readonly factory: Address;
  /** First block of the factory; null: unknown. */
  readonly firstBlock: number | null;
  /** How the address of a pool follows from its tokens; null: unknown, or pools have no address. */
  readonly addressRule: AddressRule | null;
  /** Returns keys of the manager's pools; null: none, or the factory does. A hint: the key is hashed. */
  readonly keyReader: Address | null;
}

/** CREATE2 (EIP-1014): keccak256(0xff ++ origin ++ salt ++ initCodeHash), last 20 bytes. */
export interface AddressRule {
  /** The factory, or a separate deployer. */
  readonly origin: Address;
  readonly initCodeHash: Hash;
}

/** Chain id, factory, first block (null: unknown), a rule if it differs from the exchange's (null: none), and a reader of keys. */
export type DeploymentFacts = readonly [
  chainId: number,
  factory: string,
  firstBlock: number | null,
  rule?: RuleFacts | null,
  keyReader?: string,
];

/** The hash of the init code, or the contract that pools are minimal proxies of (EIP-1167), and the deployer unless it is the factory. */
export type RuleFacts = { readonly deployer?: string } & (
  | { readonly initCodeHash: string }
  | { readonly cloneOf: string }
);

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
      addressRule: own === null ? null : addressRule(parseAddress(own.deployer ?? factory), own),
      keyReader: keyReader === undefined ? null : parseAddress(keyReader),
    })),
  };
}

function addressRule(origin: Address, rule: RuleFacts): AddressRule {
  const initCodeHash = 'cloneOf' in rule ? cloneHash(parseAddress(rule.cloneOf)) : parseHash(rule.initCodeHash);
  return { origin, initCodeHash };
}
