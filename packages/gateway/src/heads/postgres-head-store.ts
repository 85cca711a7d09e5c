import { type Database, sql } from '@chainstead/db';
import type { HeadStore, StoredHead } from './head-store.ts';
import { shareRuns } from './share-runs.ts';

interface HeadRow {
  chain_id: number;
  head: number;
  finalized: number | null;
}

/**
 * Stores heads in the table `gateway_heads`. One statement reads the heads of all chains for all concurrent callers, so
 * reads never use more than one connection. The database must be the primary: a replica lags.
 */
export function createPostgresHeadStore(options: { readonly database: Database }): HeadStore {
  const { database } = options;
  const readAll = shareRuns(async () => {
    const rows = await database.query<HeadRow>(sql`SELECT chain_id, head, finalized FROM gateway_heads`);
    return new Map(rows.map((row) => [row.chain_id, stored(row)]));
  });
  return {
    read: async (chainId) => (await readAll()).get(chainId) ?? null,
    async publish(chainId, { head, finalized }) {
      const [row] = await database.query<HeadRow>(
        sql`INSERT INTO gateway_heads AS kept (chain_id, head, finalized) VALUES (${chainId}, ${head}, ${finalized})
         ON CONFLICT (chain_id) DO UPDATE SET head = greatest(kept.head, excluded.head),
           finalized = greatest(kept.finalized, excluded.finalized), updated_at = now()
         RETURNING chain_id, head, finalized`,
      );
      return row === undefined ? { head, finalized } : stored(row);
    },
  };
}

function stored(row: HeadRow): StoredHead {
  return { head: row.head, finalized: row.finalized };
}
