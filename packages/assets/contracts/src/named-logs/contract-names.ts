import type { ChainId } from '@chainstead/core';
import type { ContractDefinition } from '../definitions/contract-definition.ts';
import type { EventTable } from '../tables/event-table.ts';
import { isNamedEvent } from '../tables/log-shape.ts';

export type NameState =
  | { readonly kind: 'indexed' | 'suspended' | 'unknown-contract' }
  | { readonly kind: 'other-chain'; readonly contract: string; readonly chainIds: readonly ChainId[] }
  | { readonly kind: 'unknown-event'; readonly contract: string; readonly events: readonly string[] };

export function namedTables({ name, tables }: ContractDefinition, text: string): readonly EventTable[] {
  const { contract, event } = partsOf(text);
  if (contract !== name) return [];
  const events = tables.filter(isNamedEvent);
  return event === null ? events : events.filter((table) => table.event === event || table.abi.name === event);
}

export function isStored(definition: ContractDefinition, definitions: readonly ContractDefinition[]): boolean {
  if (definition.suspendedReason !== null) return false;
  const { factory, chainId } = definition;
  const parent = definitions.find((one) => one.name === factory?.of && one.chainId === chainId);
  return parent === undefined || isStored(parent, definitions);
}

export function stateOfName(
  definitions: readonly ContractDefinition[],
  text: string,
  chainIds: readonly ChainId[],
): NameState {
  const { contract } = partsOf(text);
  const known = definitions.filter(({ name }) => name === contract);
  if (known.length === 0) return { kind: 'unknown-contract' };
  const own = known.filter(({ chainId }) => chainIds.includes(chainId));
  if (own.length === 0) return { kind: 'other-chain', contract, chainIds: known.map(({ chainId }) => chainId) };
  const named = own.filter((definition) => namedTables(definition, text).length > 0);
  if (named.length === 0) {
    const events = own.flatMap(({ tables }) => tables.filter(isNamedEvent).map(({ abi }) => abi.name));
    return { kind: 'unknown-event', contract, events: [...new Set(events)] };
  }
  return { kind: named.some((definition) => isStored(definition, definitions)) ? 'indexed' : 'suspended' };
}

function partsOf(text: string): { readonly contract: string; readonly event: string | null } {
  const dot = text.indexOf('.');
  return dot < 0 ? { contract: text, event: null } : { contract: text.slice(0, dot), event: text.slice(dot + 1) };
}
