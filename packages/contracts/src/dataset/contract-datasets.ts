import type { Database } from '@chainstead/db';
import type { Dataset } from '@chainstead/sync';
import { type ContractDefinition, readDefinitions } from '../definitions/contract-definition.ts';
import { type Emitters, eventDataset } from './event-dataset.ts';

/** Returns the datasets of all contracts: one per table. */
export async function readContractDatasets(database: Pick<Database, 'query'>): Promise<readonly Dataset[]> {
  return contractDatasets(await readDefinitions(database));
}

function contractDatasets(definitions: readonly ContractDefinition[]): readonly Dataset[] {
  const places = definitions.flatMap((definition) => definition.tables.map((table) => ({ table, definition })));
  return [...Map.groupBy(places, ({ table }) => table.name).values()].flatMap((ofTable) => {
    const [first] = ofTable;
    if (first === undefined) return [];
    const emitters = ofTable.map(({ definition: { chainId, addresses, firstBlock } }): [number, Emitters] => [
      chainId,
      { addresses: new Set(addresses), firstBlock },
    ]);
    return [eventDataset(first.table, new Map(emitters))];
  });
}
