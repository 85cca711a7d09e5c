import { type Database, sql } from '@chainstead/db';

/** A derived state that counts all rows, as the engine's own commits leave it; or one that is still being built. */
export async function seedBuilt(
  database: Database,
  chainId: number,
  { name, version }: { readonly name: string; readonly version: number },
  status: 'built' | 'building' = 'built',
): Promise<void> {
  await database.query(
    sql`INSERT INTO projections (chain_id, state, dataset, version, status, position) VALUES (${chainId}, ${name}, 'seeded', ${version}, ${status}, 0)
     ON CONFLICT (chain_id, state) DO UPDATE SET status = excluded.status, version = excluded.version`,
  );
}
