import type { Hash, Hex } from '@chainstead/core';
import type { AbiEvent, AbiFunction } from './abi-entry.ts';

/**
 * Most trusted first. `same-code`: of another contract with the same code. `signatures`: the
 * operator's, without names and, for events, without indexed arguments.
 */
export type AbiSource = 'contract' | 'implementation' | 'same-code' | 'standard' | 'signatures';

export interface AbiBook {
  readonly source: AbiSource;
  functionsOf(selector: Hex): readonly AbiFunction[];
  eventsOf(topic0: Hash): readonly AbiEvent[];
  /** For `signatures`: indexed arguments are unknown. */
  functionsWithHash?(topic0: Hash): readonly AbiFunction[];
}

export function bookOf(
  source: Exclude<AbiSource, 'signatures'>,
  { functions, events }: { readonly functions: readonly AbiFunction[]; readonly events: readonly AbiEvent[] },
): AbiBook {
  const bySelector = Map.groupBy(functions, ({ selector }) => selector);
  const byTopic = Map.groupBy(events, ({ topic0 }) => topic0);
  return {
    source,
    functionsOf: (selector) => bySelector.get(selector) ?? [],
    eventsOf: (topic0) => byTopic.get(topic0) ?? [],
  };
}

export function bookOfSignatures(signatures: readonly AbiFunction[]): AbiBook {
  const bySelector = Map.groupBy(signatures, ({ selector }) => selector);
  const byHash = Map.groupBy(signatures, ({ hash }) => hash);
  return {
    source: 'signatures',
    functionsOf: (selector) => bySelector.get(selector) ?? [],
    eventsOf: () => [],
    functionsWithHash: (topic0) => byHash.get(topic0) ?? [],
  };
}

/** Data must equal its decoded values' encoding. A contract's own calls often have more data. */
export function isExact(source: AbiSource): boolean {
  return source !== 'contract';
}
