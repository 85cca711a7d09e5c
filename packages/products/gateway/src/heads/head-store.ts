import { type Database, sql } from '@chainstead/db';

export interface StoredHead {
  readonly head: number;
  readonly finalized: number | null;
}

/** A read that begins after `publish` resolved sees its result. Fails with the driver's errors. */
export interface HeadStore {
  read(chainId: number): Promise<StoredHead | null>;
  /** Never lowers. @returns the stored values afterwards */
  publish(chainId: number, head: StoredHead): Promise<StoredHead>;
}

/** One statement for all concurrent callers. Needs the primary: a replica lags. */
export function createHeadStore({ database }: { readonly database: Database }): HeadStore {
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

/** Each run begins after its caller's call; at most one runs and one waits. */
export function shareRuns<T>(run: () => Promise<T>): () => Promise<T> {
  let current: Promise<T> | null = null;
  let next: Promise<T> | null = null;

  function begin(): Promise<T> {
    next = null;
    const began = run().finally(() => {
      // The waiting run starts in the same turn: no call gets in between.
      if (current === began && next === null) current = null;
    });
    current = began;
    return began;
  }

  return () => {
    if (current === null) return begin();
    // The current run may have read before this call.
    next ??= current.then(begin, begin);
    return next;
  };
}
