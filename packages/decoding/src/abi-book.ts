import type { Hash, Hex } from '@chainstead/core';
import type { AbiEvent, AbiFunction } from './abi-entry.ts';

/**
 * Where an ABI comes from, in the order of trust:
 * - `contract`: imported for the contract that was called, or that emitted the event.
 * - `implementation`: of what a proxy pointed to at that block.
 * - `same-code`: imported for another contract with the same code.
 * - `standard`: of standards and well-known contracts ({@link STANDARDS}).
 * - `signatures`: a list of signatures that the operator imported. It knows no names of arguments, and of events not which are indexed.
 */
export type AbiSource = 'contract' | 'implementation' | 'same-code' | 'standard' | 'signatures';

/** What one source knows. */
export interface AbiBook {
  readonly source: AbiSource;
  /** Of this selector. */
  functionsOf(selector: Hex): readonly AbiFunction[];
  /** With this topic0; of `signatures` none, which {@link functionsWithHash} gives. */
  eventsOf(topic0: Hash): readonly AbiEvent[];
  /** Of `signatures`: what has this hash, of which nobody knows whether it is indexed. */
  functionsWithHash?(topic0: Hash): readonly AbiFunction[];
}

/** A book of entries that are at hand. */
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

/** A list's signatures: functions, or events whose indexed arguments nobody knows. */
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

/** Whether data must be exactly what its decoded values encode to: an ABI of the contract itself needs no such proof, and calls often carry more than arguments. */
export function isExact(source: AbiSource): boolean {
  return source !== 'contract';
}
