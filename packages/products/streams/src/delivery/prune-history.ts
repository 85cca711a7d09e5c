import { type Database, type Sql, sql } from '@chainstead/db';

/** After the last match: pruning must not compete with delivery. */
const ITEMS_REST = sql`interval '10 minutes'`;

/** Keeps rows pending delivery or confirmation, and data behind remaining attempts. */
export async function pruneHistory(
  database: Database,
  { before, batch = 5_000 }: { before: Date; batch?: number },
) {
  const removeAll = async (statement: Sql): Promise<number> => {
    let removed = 0;
    for (;;) {
      const [row] = await database.query<{ removed: number }>(statement);
      removed += row?.removed ?? 0;
      if ((row?.removed ?? 0) < batch) return removed;
    }
  };
  return {
    attempts: await removeAll(sql`WITH old AS (
        SELECT created_at, id FROM stream_attempts WHERE created_at < ${before} ORDER BY created_at, id LIMIT ${batch} FOR UPDATE SKIP LOCKED
      ), gone AS (
        DELETE FROM stream_attempts a USING old WHERE (a.created_at, a.id) = (old.created_at, old.id) RETURNING 1
      ) SELECT count(*) AS removed FROM gone`),
    deliveries: await removeAll(sql`WITH old AS (
        SELECT id FROM stream_deliveries d WHERE status <> 'pending' AND created_at < ${before} AND NOT EXISTS (
          SELECT FROM stream_attempts a WHERE a.chain_id = d.chain_id AND a.block_number = d.block_number
            AND a.stream_id = d.stream_id)
        LIMIT ${batch} FOR UPDATE SKIP LOCKED
      ), gone AS (
        DELETE FROM stream_deliveries WHERE id IN (SELECT id FROM old) RETURNING 1
      ) SELECT count(*) AS removed FROM gone`),
    matches: await removeAll(sql`WITH old AS (
        SELECT chain_id, block_number, stream_id, block_hash FROM stream_matches m
        WHERE (confirmed OR removed_at IS NOT NULL) AND block_timestamp < ${before} AND NOT EXISTS (
          SELECT FROM stream_deliveries d WHERE d.chain_id = m.chain_id AND d.block_number = m.block_number
            AND d.stream_id = m.stream_id AND d.block_hash = m.block_hash)
        LIMIT ${batch} FOR UPDATE SKIP LOCKED
      ), forgotten AS (
        DELETE FROM stream_match_transactions t USING old
        WHERE (t.chain_id, t.block_number, t.stream_id, t.block_hash)
          = (old.chain_id, old.block_number, old.stream_id, old.block_hash)
      ), gone AS (
        DELETE FROM stream_matches m USING old
        WHERE (m.chain_id, m.block_number, m.stream_id, m.block_hash)
          = (old.chain_id, old.block_number, old.stream_id, old.block_hash) RETURNING 1
      ) SELECT count(*) AS removed FROM gone`),
    // A match that refers to an item touches it, which the lock waits for.
    items: await removeAll(
      sql`WITH old AS (
        SELECT chain_id, block_number, block_hash, kind, place FROM stream_items i
        WHERE used_at < now() - ${ITEMS_REST} AND NOT EXISTS (
          SELECT FROM stream_matches m WHERE m.chain_id = i.chain_id AND m.block_number = i.block_number
            AND m.block_hash = i.block_hash AND m.matched <> '')
        LIMIT ${batch} FOR UPDATE SKIP LOCKED
      ), gone AS (
        DELETE FROM stream_items i USING old
        WHERE (i.chain_id, i.block_number, i.block_hash, i.kind, i.place)
          = (old.chain_id, old.block_number, old.block_hash, old.kind, old.place) RETURNING 1
      ) SELECT count(*) AS removed FROM gone`,
    ),
  };
}
