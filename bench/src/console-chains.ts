import type { Database } from '@chainstead/db';

/** Chains that are being followed, as ingestion leaves them after a day: their ids begin here. */
const FIRST_ID = 900_001;
const MINUTES = 24 * 60;
/** Ranges of each dataset, of different levels of proof, with gaps between some. */
const RANGES = 24;
const RANGE_BLOCKS = 50_000;
const DATASETS = ['erc20-transfers', 'erc20-approvals', 'nft-transfers', 'nft-trades'];

/** Chains with a history of several levels, nodes, and samples of a day. */
export async function addFollowedChains(database: Database, count: number): Promise<void> {
  const head = RANGES * RANGE_BLOCKS;
  const upstreams = ['a', 'b', 'c'].map((name) => ({
    name: `https://node-${name}.example`,
    state: 'healthy',
    reason: null,
    score: 1,
    head,
    latencyMs: { p50: 12, p95: 40 },
    requests: 100_000,
    faults: {},
  }));
  await database.query(
    `INSERT INTO sync_chains (chain_id, chain_key, history_start, first_followed, checkpoint, head, upstreams)
     SELECT $1::bigint + number, 'chain-' || number, 0, $2::bigint - 10000, $2::bigint - 1, $2::bigint, $3
       FROM generate_series(0, $4::int - 1) AS number`,
    [FIRST_ID, head, JSON.stringify(upstreams), count],
  );
  await database.query(
    `INSERT INTO sync_ranges (chain_id, dataset, first_block, last_block, proof)
     SELECT $1::bigint + number, dataset, place * $2::bigint, (place + 1) * $2::bigint - 1 - CASE WHEN place % 8 = 3 THEN 100 ELSE 0 END,
            (ARRAY['receipts', 'none', 'cross'])[1 + place % 3]
       FROM generate_series(0, $3::int - 1) AS number, unnest($4::text[]) AS dataset, generate_series(0, $5::int - 1) AS place`,
    [FIRST_ID, RANGE_BLOCKS, count, DATASETS, RANGES],
  );
  await database.query(
    `INSERT INTO chain_samples (chain, minute, head, checkpoint, covered, rows)
     SELECT ($1::bigint + number)::text, date_trunc('minute', now()) - make_interval(mins => ago), $2::bigint - ago * 5,
            $2::bigint - ago * 5 - (ago * 7 + number) % 40, $2::bigint * 4 - ago * 20, 10000000 - ago * 500
       FROM generate_series(0, $3::int - 1) AS number, generate_series(0, $4::int - 1) AS ago`,
    [FIRST_ID, head, count, MINUTES],
  );
  await database.query('VACUUM ANALYZE');
}
