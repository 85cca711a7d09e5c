import { type Database, sql } from '@chainstead/db';

/** Chains as ingestion stores them, with a history of several levels, and samples of an hour. */
export async function seedChains(database: Database, ids: readonly number[]): Promise<void> {
  await database.query(
    sql`INSERT INTO sync_chains (chain_id, chain_key, history_start, first_followed, checkpoint, head)
     SELECT id, 'chain-' || id, 0, 1000, 1990, 2000 FROM unnest(${ids}::bigint[]) AS id`,
  );
  // An ingest process works on them.
  await database.query(
    sql`INSERT INTO head_reports (chain, reporter, reported_at)
     SELECT id::text, gen_random_uuid(), now() + interval '1 hour' FROM unnest(${ids}::bigint[]) AS id`,
  );
  await database.query(
    sql`INSERT INTO sync_ranges (chain_id, dataset, first_block, last_block, proof, upstream)
     SELECT id, 'erc20-transfers', first, last, proof, upstream FROM unnest(${ids}::bigint[]) AS id CROSS JOIN (VALUES
       (0, 399, 'receipts', NULL), (400, 599, 'cross', NULL), (600, 999, 'none', 'http://node-a'), (1200, 1990, 'receipts', NULL)
     ) AS range (first, last, proof, upstream)`,
  );
  await database.query(
    sql`INSERT INTO chain_metrics_minutely (chain, minute, head, checkpoint, covered, rows)
     SELECT id::text, date_trunc('minute', now()) - make_interval(mins => ago), 2000 - ago * 5, 1990 - ago * 5 - ago, 1790 - ago * 60, 5000 - ago * 60
       FROM unnest(${ids}::bigint[]) AS id CROSS JOIN generate_series(0, 60) AS ago`,
  );
}
