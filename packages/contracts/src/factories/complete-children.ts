import type { Database } from '@chainstead/db';
import { type ChildSet, childrenOf } from '../definitions/child-sets.ts';
import { type ContractDefinition, readDefinitions, readRevision } from '../definitions/contract-definition.ts';

/**
 * Returns the chain ID and the table, separated by a space, of all factories whose events are complete up to the checkpoint of their chain. Only
 * then are the events of their children read: an unknown child would leave no gap.
 */
export async function readCompleteChildren(
  database: Pick<Database, 'query'>,
  definitions: readonly ContractDefinition[],
): Promise<ReadonlySet<string>> {
  const complete = new Set<string>();
  for (const definition of definitions) {
    const children = childrenOf(definition);
    if (children === null || definition.suspendedReason !== null) continue;
    if (await isCompleteToCheckpoint(database, definition.chainId, children))
      complete.add(`${definition.chainId} ${children.table}`);
  }
  return complete;
}

/** Returns a text that changes with the definitions, and when the children of a contract have become known. */
export async function readContractsState(database: Pick<Database, 'query'>): Promise<string> {
  const revision = await readRevision(database);
  const definitions = (await readDefinitions(database)).filter(({ factory }) => factory !== null);
  const complete = await readCompleteChildren(database, definitions);
  return [revision, ...[...complete].toSorted()].join('\n');
}

/** If no block of the chain is followed, the highest block with the events counts. One statement: the checkpoint moves all the time. */
async function isCompleteToCheckpoint(
  database: Pick<Database, 'query'>,
  chainId: number,
  { table, firstBlock }: ChildSet,
): Promise<boolean> {
  const [row] = await database.query<{ is_complete: boolean | null }>(
    `SELECT range_agg(int8range(first_block, last_block, '[]')) @> int8range($3, greatest($3, 1 + coalesce(
         (SELECT checkpoint FROM sync_chains WHERE chain_id = $1), max(last_block)))) AS is_complete
       FROM sync_ranges WHERE chain_id = $1 AND dataset = $2`,
    [chainId, table, firstBlock],
  );
  return row?.is_complete === true;
}
