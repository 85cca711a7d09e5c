import type { Hash, Hex } from '@chainstead/core';
import type { AbiEvent, AbiFunction } from './abi-entry.ts';

/**
 * Origin of an ABI, most trusted first:
 * - `contract`: imported for the called contract, or for the emitter of the event.
 * - `implementation`: of the contract that a proxy pointed to at that block.
 * - `same-code`: imported for another contract with the same code.
 * - `standard`: of standards and well-known contracts ({@link STANDARDS}).
 * - `signatures`: a list of signatures imported by the operator. It lacks argument names and, for events, which
 *   arguments are indexed.
 */
export type AbiSource = 'contract' | 'implementation' | 'same-code' | 'standard' | 'signatures';

export interface AbiBook {
  readonly source: AbiSource;
  functionsOf(selector: Hex): readonly AbiFunction[];
  /** Events with this topic0; none for `signatures`, which uses {@link functionsWithHash}. */
  eventsOf(topic0: Hash): readonly AbiEvent[];
  /** For `signatures`: entries with this hash; which of their arguments are indexed is unknown. */
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

/** Functions, or events with unknown indexed arguments. */
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

/** Data must equal the encoding of its decoded values, except by the contract's own ABI: calls often contain more data. */
export function isExact(source: AbiSource): boolean {
  return source !== 'contract';
}
