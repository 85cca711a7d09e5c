import type { Address } from '@chainstead/core';
import type { AbiType } from '@chainstead/events/decoding';
import type { EventTable, LogPlace } from './event-table.ts';

export interface Upgrade extends LogPlace {
  readonly implementation: Address;
}

export function formsOf(table: EventTable, tables: readonly EventTable[]): readonly EventTable[] {
  return tables.filter(
    (other) =>
      isNamedEvent(other) && other.abi.topic0 === table.abi.topic0 && indexedCount(other) === indexedCount(table),
  );
}

export function dependOnImplementation(forms: readonly EventTable[]): boolean {
  return forms.length > 1 && forms.some(({ implementations }) => implementations.length > 0);
}

/** @param forms in order of addition @param upgrade last one before the log; null: none */
export function formAt(
  forms: readonly EventTable[],
  place: LogPlace,
  upgrade: Upgrade | null,
): EventTable | undefined {
  const [first, ...others] = forms.toSorted(({ since: one }, { since: other }) => {
    if (one === null || other === null) return Number(one !== null) - Number(other !== null);
    return one.block - other.block || one.log - other.log;
  });
  const placed = others.findLast(({ since }) => since !== null && !isBefore(place, since)) ?? first;
  if (upgrade === null) return placed;
  if (placed !== undefined && placed.since !== null && isBefore(upgrade, placed.since)) return placed;
  return forms.find(({ implementations }) => implementations.includes(upgrade.implementation)) ?? placed;
}

export function implementationsOf(forms: readonly EventTable[]): readonly Address[] {
  return [...new Set(forms.flatMap(({ implementations }) => implementations))];
}

export function isBefore(one: LogPlace, other: LogPlace): boolean {
  return one.block < other.block || (one.block === other.block && one.log < other.log);
}

export function indexedCount({ abi: { inputs } }: Pick<EventTable, 'abi'>): number {
  return inputs.filter(({ isIndexed }) => isIndexed).length;
}

export function isNamedEvent({ kind, abi }: Pick<EventTable, 'kind' | 'abi'>): boolean {
  return kind === 'event' && !abi.isAnonymous;
}

/** As many topics, and data of a length that both may have. */
export function mayBeConfused(one: Pick<EventTable, 'abi'>, other: Pick<EventTable, 'abi'>): boolean {
  if (indexedCount(one) !== indexedCount(other)) return false;
  const [first, second] = [dataSize(one), dataSize(other)];
  if (first.isFixed && second.isFixed) return first.words === second.words;
  return (!first.isFixed || first.words >= second.words) && (!second.isFixed || second.words >= first.words);
}

interface EncodingSize {
  readonly words: number;
  readonly isFixed: boolean;
}

function dataSize({ abi: { inputs } }: Pick<EventTable, 'abi'>): EncodingSize {
  return sizeOfAll(inputs.filter(({ isIndexed }) => !isIndexed).map(sizeOf));
}

function sizeOfAll(sizes: readonly EncodingSize[]): EncodingSize {
  return {
    words: sizes.reduce((sum, { words, isFixed }) => sum + words + (isFixed ? 0 : 1), 0),
    isFixed: sizes.every(({ isFixed }) => isFixed),
  };
}

const LIST = /^(.*)\[(\d*)\]$/;
const LENGTH: EncodingSize = { words: 1, isFixed: false };

function sizeOf({ name, type, components = [] }: AbiType): EncodingSize {
  const [, item = '', count = ''] = LIST.exec(type) ?? [];
  if (item !== '') {
    if (count === '') return LENGTH;
    const { words, isFixed } = sizeOf({ name, type: item, components });
    return { words: Number(count) * (words + (isFixed ? 0 : 1)), isFixed };
  }
  if (type === 'tuple') return sizeOfAll(components.map(sizeOf));
  return type === 'string' || type === 'bytes' ? LENGTH : { words: 1, isFixed: true };
}
