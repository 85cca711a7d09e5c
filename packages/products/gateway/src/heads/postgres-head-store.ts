import { type Database, sql } from '@chainstead/db';
import type { HeadStore, StoredHead } from './head-store.ts';
import { shareRuns } from './share-runs.ts';

/** One statement for all concurrent callers. Needs the primary: a replica lags. */
export function createPostgresHeadStore({ database }: { readonly database: Database }): HeadStore {
  const readAll = shareRuns(async () => {
    const rows = await database.query<StoredHead & { readonly chainId: number }>(
      sql`SELECT chain_id, head, finalized FROM gateway_heads`,
    );
    return new Map(rows.map(({ chainId, ...head }) => [chainId, head]));
  });
  return {
    read: async (chainId) => (await readAll()).get(chainId) ?? null,
    async publish(chainId, { head, finalized }) {
      const [stored = { head, finalized }] = await database.query<StoredHead>(
        sql`INSERT INTO gateway_heads AS kept (chain_id, head, finalized) VALUES (${chainId}, ${head}, ${finalized})
         ON CONFLICT (chain_id) DO UPDATE SET head = greatest(kept.head, excluded.head),
           finalized = greatest(kept.finalized, excluded.finalized), updated_at = now()
         RETURNING head, finalized`,
      );
      return stored;
    },
  };
}
