import type { EventTable } from '../tables/event-table.ts';
import { dependOnImplementation, formsOf } from '../tables/form-at-log.ts';
import type { ChildFrom, ContractDefinition } from './contract-definition.ts';

/** Children, which may emit events after these rows, or implementations from there on. */
export interface ChildSet {
  readonly table: string;
  readonly column: string;
  readonly firstBlock: number;
  /** Null: an implementation, which counts from its log on. */
  readonly childFrom: ChildFrom | null;
}

export function childrenOf({ tables, factory }: ContractDefinition): ChildSet | null {
  const table = tables.find(({ event }) => event === factory?.event);
  if (factory === null || table === undefined) return null;
  const { child, firstBlock, childFrom } = factory;
  return { table: table.name, column: child, firstBlock, childFrom };
}

export function emittersOf(
  definition: ContractDefinition,
  table: EventTable,
  definitions: readonly ContractDefinition[],
): ChildSet | null {
  const { factory, chainId } = definition;
  if (factory === null || table.event !== factory.event) return childrenOf(definition);
  const parent = definitions.find((one) => one.name === factory.of && one.chainId === chainId);
  return parent === undefined ? null : childrenOf(parent);
}

export function upgradesOf({
  tables,
  upgrades,
}: Pick<ContractDefinition, 'tables' | 'upgrades'>): ChildSet | null {
  const table = tables.find(({ event }) => event === upgrades?.event);
  return upgrades === null || table === undefined
    ? null
    : { table: table.name, column: upgrades.column, firstBlock: upgrades.firstBlock, childFrom: null };
}

export function isFormOfImplementation(
  { tables }: Pick<ContractDefinition, 'tables'>,
  table: EventTable,
): boolean {
  return dependOnImplementation(formsOf(table, tables));
}

export function dependentTables(
  definition: ContractDefinition,
  definitions: readonly ContractDefinition[],
): readonly string[] {
  const { tables, factory, name, chainId } = definition;
  if (factory === null)
    return tables.filter((table) => isFormOfImplementation(definition, table)).map((table) => table.name);
  const nested = definitions.filter((one) => one.factory?.of === name && one.chainId === chainId);
  return [
    ...tables.filter(({ event }) => event !== factory.event).map((table) => table.name),
    ...nested.flatMap((one) => [...one.tables.map((table) => table.name), ...dependentTables(one, definitions)]),
  ].filter((table, place, all) => all.indexOf(table) === place);
}

export function withTables(
  definitions: readonly ContractDefinition[],
  missing: ReadonlySet<string>,
): readonly ContractDefinition[] {
  const isWhole = ({ tables, factory, chainId }: ContractDefinition): boolean => {
    const parent = definitions.find((one) => one.name === factory?.of && one.chainId === chainId);
    return tables.every(({ name }) => !missing.has(name)) && (parent === undefined || isWhole(parent));
  };
  return missing.size === 0 ? definitions : definitions.filter(isWhole);
}

export function depthOf(
  definition: ContractDefinition,
  table: EventTable,
  definitions: readonly ContractDefinition[],
): number {
  const { factory, chainId } = definition;
  if (factory === null) return isFormOfImplementation(definition, table) ? 1 : 0;
  const parent = definitions.find((one) => one.name === factory.of && one.chainId === chainId);
  const creation = parent?.tables.find(({ event }) => event !== parent.factory?.event);
  const ofCreation = parent === undefined || creation === undefined ? 0 : depthOf(parent, creation, definitions);
  return table.event === factory.event ? ofCreation : ofCreation + 1;
}
