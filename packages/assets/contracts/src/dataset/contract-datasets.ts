import { defineError } from '@chainstead/core';
import type { Database, Transaction } from '@chainstead/db';
import type { Dataset, PrecedingRows } from '@chainstead/sync/datasets';
import {
  type ChildSet,
  childrenOf,
  dependentTables,
  depthOf,
  emittersOf,
  isFormOfImplementation,
  upgradesOf,
  withTables,
} from '../definitions/child-sets.ts';
import { type ContractDefinition, readDefinitions, readRevision } from '../definitions/contract-definition.ts';
import { readCompleteChildren } from '../factories/child-rows.ts';
import { type DependentTables, watchCreations } from '../factories/watch-creations.ts';
import type { EventTable } from '../tables/event-table.ts';
import { formsOf, implementationsOf } from '../tables/form-at-log.ts';
import { readMissingTables } from '../tables/missing-tables.ts';
import { acceptedLogs } from './accepted-logs.ts';
import { callDataset } from './call-dataset.ts';
import { type Emitters, eventDataset } from './event-dataset.ts';

class ContractsChangedError extends defineError('CONTRACTS_CHANGED', () => ({
  message: 'Contracts were added or removed while blocks were read',
  remedy: 'Nothing: the blocks are read again with the new contracts',
  retryable: true,
})) {}

/** One per table, after those that its rows need. Commits are refused once a definition changed. */
export async function readContractDatasets(database: Pick<Database, 'query'>): Promise<readonly Dataset[]> {
  // Read first: a change in between is found by the first commit.
  const revision = await readRevision(database);
  const definitions = withTables(await readDefinitions(database), await readMissingTables(database));
  const complete = await readCompleteChildren(database);
  const requireCurrent = async (transaction: Transaction): Promise<void> => {
    if ((await readRevision(transaction)) !== revision) throw new ContractsChangedError();
  };
  const places = definitions
    .filter(({ suspendedReason }) => suspendedReason === null)
    .flatMap((definition) =>
      definition.tables.map((table) => ({
        ...{ definition, table },
        children: emittersOf(definition, table, definitions),
        upgrades: isFormOfImplementation(definition, table) ? upgradesOf(definition) : null,
        depth: depthOf(definition, table, definitions),
      })),
    )
    .filter(({ definition: { chainId }, children, upgrades }) =>
      [children, upgrades].every((one) => one === null || complete.has(`${chainId} ${one.table}`)),
    );
  const ofTables = Map.groupBy(places, ({ table }) => table.name);
  const deepest = (ofTable: readonly Place[]): number => Math.max(...ofTable.map(({ depth }) => depth));
  return [...ofTables.values()]
    .toSorted((one, other) => deepest(one) - deepest(other))
    .flatMap((ofTable) => {
      const [first] = ofTable;
      if (first === undefined) return [];
      const preceding = precedingOf(ofTable, definitions);
      // Children and implementations follow from old rows.
      const retention = { deletesOldRows: preceding === null, isKeptWhole: preceding !== null };
      const members = { requireCurrent, ...retention, ...(preceding !== null && { preceding }) };
      const datasetOf = first.table.kind === 'call' ? callDataset : eventDataset;
      return [datasetOf(first.table, new Map(ofTable.map(emittersOfPlace)), members)];
    });
}

interface Place {
  readonly definition: ContractDefinition;
  readonly table: EventTable;
  readonly children: ChildSet | null;
  readonly upgrades: ChildSet | null;
  readonly depth: number;
}

function emittersOfPlace({ definition, table, children, upgrades }: Place): [number, Emitters] {
  const { chainId, addresses, firstBlock, factory } = definition;
  const isCreation = (one: EventTable) => one.event === factory?.event;
  const first = isCreation(table) ? (factory?.firstBlock ?? null) : firstBlock;
  const alike = definition.tables.filter((one) => isCreation(one) === isCreation(table));
  const accepts = acceptedLogs(table, alike);
  const byImplementation = upgrades === null ? null : { upgrades, forms: formsOf(table, definition.tables) };
  return [chainId, { addresses: new Set(addresses), children, firstBlock: first, accepts, byImplementation }];
}

function precedingOf(places: readonly Place[], definitions: readonly ContractDefinition[]): PrecedingRows | null {
  const dependents = places.flatMap(({ definition, table }): readonly (readonly [number, DependentTables])[] => {
    const children = childrenOf(definition) ?? upgradesOf(definition);
    if (children === null || children.table !== table.name) return [];
    const isMoving = definition.factory === null;
    const only = isMoving ? implementationsOf(definition.tables) : null;
    return [[definition.chainId, { children, only, isMoving, tables: dependentTables(definition, definitions) }]];
  });
  return dependents.length === 0 ? null : watchCreations(new Map(dependents));
}
