import type { Address } from '@chainstead/core';
import type { EventTable, LogPlace } from './event-table.ts';
import { indexedCount, isNamedEvent } from './log-shape.ts';

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
