import { ChainsteadError } from '@chainstead/core';
import type { Database, Transaction } from '@chainstead/db';
import type { Dataset } from '@chainstead/sync';
import { readDefinitions, readRevision } from '../definitions/contract-definition.ts';
import { type Emitters, eventDataset } from './event-dataset.ts';

/** The definitions of contracts have changed since they were read. The commit is repeated with the new ones. */
class ContractsChangedError extends ChainsteadError {
  constructor() {
    super({
      code: 'CONTRACTS_CHANGED',
      message: 'Contracts were added or removed while blocks were read',
      remedy: 'Nothing: the blocks are read again with the new contracts',
      retryable: true,
    });
  }
}

/**
 * Returns the datasets of all contracts: one per table. Commits of them are refused once a definition has changed, because they would cover
 * blocks without the logs of new addresses.
 */
export async function readContractDatasets(database: Pick<Database, 'query'>): Promise<readonly Dataset[]> {
  // Read first: a change in between is found by the first commit.
  const revision = await readRevision(database);
  const definitions = await readDefinitions(database);
  const requireCurrent = async (transaction: Transaction): Promise<void> => {
    if ((await readRevision(transaction)) !== revision) throw new ContractsChangedError();
  };
  const places = definitions.flatMap((definition) => definition.tables.map((table) => ({ table, definition })));
  return [...Map.groupBy(places, ({ table }) => table.name).values()].flatMap((ofTable) => {
    const [first] = ofTable;
    if (first === undefined) return [];
    const emitters = ofTable.map(({ definition: { chainId, addresses, firstBlock } }): [number, Emitters] => [
      chainId,
      { addresses: new Set(addresses), firstBlock },
    ]);
    return [eventDataset(first.table, new Map(emitters), requireCurrent)];
  });
}
