import { defineError } from '@chainstead/core';
import type { Chain } from './chain.ts';
import { type CustomChain, customChain } from './custom-chain.ts';
import { LAYER_ONE_CHAINS } from './definitions/layer-one-chains.ts';
import { OP_STACK_CHAINS } from './definitions/op-stack-chains.ts';
import { OWN_HEADER_CHAINS } from './definitions/own-header-chains.ts';
import { ROLLUP_CHAINS } from './definitions/rollup-chains.ts';

const HEXADECIMAL = /^0x[0-9a-f]+$/;
const DECIMAL = /^[0-9]+$/;

export interface ChainRegistry {
  /** By id (number, decimal, hexadecimal) or any name; any case, spaces like hyphens. */
  find(chain: string | number): Chain | null;
  /** @throws UnknownChainError */
  get(chain: string | number): Chain;
  all(): readonly Chain[];
}

/** Nothing is known under this name or id. Code `UNKNOWN_CHAIN`. */
export class UnknownChainError extends defineError('UNKNOWN_CHAIN', (given: string | number) => ({
  message: `There is no chain ${JSON.stringify(given)}`,
  facts: { given },
  remedy:
    'Use a name from the documented list or a hexadecimal or decimal ID, or add the chain with CHAIN_ID_<NAME>',
})) {}

/** Two chains have the same ID or name. Code `CHAIN_COLLISION`. */
export class ChainCollisionError extends defineError(
  'CHAIN_COLLISION',
  (added: Chain, existing: Chain, shared: string | number) => ({
    message: `The configured chain ${added.key} (${added.id}) and the chain ${existing.key} (${existing.id}) both use ${shared}`,
    facts: { added: added.key, existing: existing.key, shared },
    remedy: `Use the name ${existing.key} for this chain, or change the name or ID of ${added.key}`,
  }),
) {}

/** @throws ChainCollisionError, InvalidPrimitiveError */
export function createChainRegistry(
  options: { readonly additional?: readonly CustomChain[] } = {},
): ChainRegistry {
  const known = [...LAYER_ONE_CHAINS, ...OP_STACK_CHAINS, ...ROLLUP_CHAINS, ...OWN_HEADER_CHAINS];
  const chains = new Map<string, Chain>(known.map((chain) => [chain.key, chain]));
  for (const custom of options.additional ?? []) {
    const key = normalName(custom.key);
    const chain = customChain({ ...custom, key }, chains.get(key) ?? null);
    // Last, so that a collision error names the configured chain.
    chains.delete(key);
    chains.set(key, chain);
  }
  const find = createChainFinder([...chains.values()]);
  return {
    find,
    get: (given) => {
      const chain = find(given);
      if (chain === null) throw new UnknownChainError(given);
      return chain;
    },
    all: () => [...chains.values()],
  };
}

/** @throws ChainCollisionError when two share an id or name */
export function createChainFinder(chains: readonly Chain[]): ChainRegistry['find'] {
  const byId = new Map<number, Chain>();
  const byName = new Map<string, Chain>();
  for (const chain of chains) {
    for (const id of [chain.id, ...chain.aliasIds]) claim(byId, id, chain);
    const names = [
      chain.key,
      chain.name,
      ...chain.apiNames,
      ...(chain.gatewaySlug === null ? [] : [chain.gatewaySlug]),
    ];
    for (const name of new Set(names.map(normalName))) claim(byName, name, chain);
  }
  return (given) => {
    if (typeof given === 'number') return byId.get(given) ?? null;
    const text = given.trim().toLowerCase();
    if (HEXADECIMAL.test(text) || DECIMAL.test(text)) return byId.get(Number(text)) ?? null;
    return byName.get(normalName(text)) ?? null;
  };
}

function normalName(text: string): string {
  return text
    .trim()
    .toLowerCase()
    .replaceAll(/[\s_]+/g, '-');
}

function claim<K extends string | number>(index: Map<K, Chain>, key: K, chain: Chain): void {
  const existing = index.get(key);
  if (existing !== undefined) throw new ChainCollisionError(chain, existing, key);
  index.set(key, chain);
}
