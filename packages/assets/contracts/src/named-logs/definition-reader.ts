import type { Database } from '@chainstead/db';
import { type ContractDefinition, readDefinitions, readRevision } from '../definitions/contract-definition.ts';

export type DefinitionReader = (database: Pick<Database, 'query'>) => Promise<readonly ContractDefinition[]>;

export function createDefinitionReader(): DefinitionReader {
  let known: { readonly revision: string; readonly definitions: readonly ContractDefinition[] } | null = null;
  return async (database) => {
    const revision = await readRevision(database);
    if (known?.revision === revision) return known.definitions;
    const definitions = await readDefinitions(database);
    known = { revision, definitions };
    return definitions;
  };
}
