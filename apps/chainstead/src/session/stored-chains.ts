import { type ChainRegistry, createChainRegistry } from '@chainstead/chains';
import { type Database, sql } from '@chainstead/db';
import type { Configuration } from '../configuration/index.ts';

/** With defaults: commands on stored rows need no CHAINS. */
export async function withStoredChains(
  database: Pick<Database, 'query'>,
  configuration: Configuration,
): Promise<Configuration> {
  return { ...configuration, chainRegistry: await readRegistry(database, configuration.chainRegistry) };
}

async function readRegistry(
  database: Pick<Database, 'query'>,
  configured: ChainRegistry,
): Promise<ChainRegistry> {
  const rows = await database.query<{ id: number; key: string }>(
    sql`SELECT chain_id AS id, chain_key AS key FROM sync_chains WHERE chain_key IS NOT NULL ORDER BY updated_at DESC`,
  );
  // Separate registries: of two with the same name, the newer one gets it.
  const stored = rows
    .filter(({ id }) => configured.find(id) === null)
    .map((row) => ({ id: row.id, registry: createChainRegistry({ additional: [row] }) }));
  const find: ChainRegistry['find'] = (given) =>
    configured.find(given) ??
    stored.find(({ id, registry }) => registry.find(given)?.id === id)?.registry.find(given) ??
    null;
  return {
    find,
    get: (given) => find(given) ?? configured.get(given),
    all: () => [...configured.all(), ...stored.map(({ id, registry }) => registry.get(id))],
  };
}
