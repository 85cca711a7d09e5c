import type { Address, Hash } from '@chainstead/core';
import {
  type EventTable,
  eventItem,
  eventNames,
  eventTable,
  type LogPlace,
  type TableItem,
} from '../tables/event-table.ts';
import { formsOf, indexedCount, isNamedEvent, mayBeConfused } from '../tables/form-at-log.ts';
import { type ContractDefinition, ContractRefusedError } from './contract-definition.ts';
import type { WantedItems } from './wanted-items.ts';

interface WantedTables extends Pick<WantedItems, 'items' | 'named'> {
  readonly creation: TableItem['abi'] | null;
  readonly upgrade: LogPlace | null;
  readonly implementation: Address | null;
}

interface DefinedTables {
  readonly tables: readonly EventTable[];
  readonly wanted: readonly EventTable[];
  readonly creationTable: EventTable | null;
}

/** @param known definitions on all chains @throws ContractRefusedError for ambiguous logs */
export function tablesOf(
  name: string,
  known: readonly ContractDefinition[],
  own: ContractDefinition | undefined,
  given: WantedTables,
): DefinedTables {
  const { creation, items, named, implementation } = given;
  const places = [
    ...(creation === null ? [] : [{ item: eventItem(creation), isCreation: true }]),
    ...items.map((item) => ({ item, isCreation: false })),
  ].map((one) => ({ ...one, found: findTable(known, own, one) }));
  const added = places.filter(({ found }) => found === null);
  const taken = known.flatMap(({ tables }) => tables.map(({ event }) => event));
  const names = eventNames(
    name,
    added.map(({ item }) => item),
    taken,
  );
  const tables = [...(own?.tables ?? [])];
  let creationEvent = own?.factory?.event ?? null;
  const wanted = places.map((place): EventTable => {
    const { item, found, isCreation } = place;
    const table = found ?? eventTable(name, names[added.indexOf(place)] ?? '', item);
    if (isCreation) creationEvent = table.event;
    const kept = tables.find((one) => one.name === table.name);
    if (kept !== undefined) return kept;
    const alike = isCreation ? [] : tables.filter(({ event }) => event !== creationEvent);
    const placed = { ...table, otherTopics: [], implementations: [], since: sinceOf(name, table, alike, given) };
    tables.push(placed);
    return placed;
  });
  const wantedNames = new Set(wanted.map((table) => table.name));
  const complete = tables
    .map((table) => withOtherTopics(table, tables, named))
    .map((table) => {
      if (implementation === null || !wantedNames.has(table.name) || !isNamedEvent(table)) return table;
      return { ...table, implementations: [...new Set([...table.implementations, implementation])] };
    });
  requireDistinct(name, complete);
  if (implementation !== null) requireOneForm(name, complete, implementation);
  const completed = (one: EventTable) => complete.find((table) => table.name === one.name) ?? one;
  return {
    tables: complete,
    wanted: wanted.map(completed),
    creationTable: creation === null || wanted[0] === undefined ? null : completed(wanted[0]),
  };
}

/** First names of parameters stay. On other chains names count: they are the columns. */
function findTable(
  known: readonly ContractDefinition[],
  own: ContractDefinition | undefined,
  { item, isCreation }: { readonly item: TableItem; readonly isCreation: boolean },
): EventTable | null {
  const tablesIn = (definitions: readonly ContractDefinition[]) =>
    definitions.flatMap(({ tables, factory }) =>
      tables.filter((table) => (table.event === factory?.event) === isCreation && isSameForm(table, item)),
    );
  const ofChain = own === undefined ? [] : tablesIn([own]);
  const hasSameNames = (table: EventTable) =>
    JSON.stringify(table.abi.inputs) === JSON.stringify(item.abi.inputs);
  const renamed = isCreation ? null : ofChain[0];
  return ofChain.find(hasSameNames) ?? renamed ?? tablesIn(known).find(hasSameNames) ?? null;
}

function isSameForm(one: TableItem, other: TableItem): boolean {
  const flagsOf = ({ abi: { inputs } }: TableItem) => inputs.map(({ isIndexed }) => isIndexed).join();
  return (
    one.kind === other.kind &&
    one.abi.signature === other.abi.signature &&
    one.abi.isAnonymous === other.abi.isAnonymous &&
    flagsOf(one) === flagsOf(other)
  );
}

/** Null: topics or the implementation distinguish the forms. */
function sinceOf(
  name: string,
  table: EventTable,
  tables: readonly EventTable[],
  { upgrade, implementation }: Pick<WantedTables, 'upgrade' | 'implementation'>,
): LogPlace | null {
  if (!isNamedEvent(table)) return null;
  const alike = formsOf(table, tables).filter((other) => other.name !== table.name);
  if (alike.length === 0 || implementation !== null) return null;
  const { signature } = table.abi;
  if (upgrade === null)
    throw new ContractRefusedError(
      'CONTRACT_EVENT_CHANGED',
      `${name} has ${signature} with other indexed parameters, and their number is the same`,
      'Give the implementation with --implementation, or the log of the upgrade with --upgrade <block>:<log index>, or use another name',
    );
  if (alike.some(({ since }) => since?.block === upgrade.block && since.log === upgrade.log))
    throw new ContractRefusedError(
      'CONTRACT_EVENT_CHANGED',
      `${name} has ${signature} with other indexed parameters since log ${upgrade.log} of block ${upgrade.block}`,
      'Give another log with --upgrade, or use another name',
    );
  return upgrade;
}

function requireOneForm(name: string, tables: readonly EventTable[], implementation: Address): void {
  const own = tables.filter(({ implementations }) => implementations.includes(implementation));
  const changed = own.find((table) => formsOf(table, own).length > 1);
  if (changed !== undefined)
    throw new ContractRefusedError(
      'CONTRACT_EVENT_CHANGED',
      `${name} has ${changed.abi.signature} with other indexed parameters for the implementation ${implementation}`,
      'Give the ABI of the implementation, or use another name',
    );
}

function withOtherTopics(
  table: EventTable,
  tables: readonly EventTable[],
  named: WantedTables['named'],
): EventTable {
  if (!table.abi.isAnonymous) return table;
  const events = [...tables.filter(isNamedEvent).map(({ abi }) => abi), ...named];
  const alike = events.filter((abi) => indexedCount({ abi }) + 1 === indexedCount(table));
  const topics = new Set<Hash>([...table.otherTopics, ...alike.map(({ topic0 }) => topic0)]);
  return { ...table, otherTopics: [...topics] };
}

function requireDistinct(name: string, tables: readonly EventTable[]): void {
  const anonymous = tables.filter(({ abi }) => abi.isAnonymous);
  for (const [index, one] of anonymous.entries())
    for (const other of anonymous.slice(index + 1))
      if (mayBeConfused(one, other))
        throw new ContractRefusedError(
          'CONTRACT_EVENTS_AMBIGUOUS',
          `${one.abi.signature} and ${other.abi.signature} of ${name} are anonymous, and their logs have the same form`,
          'Choose one of them with --event. Logs of the other are then stored as its own',
        );
}
