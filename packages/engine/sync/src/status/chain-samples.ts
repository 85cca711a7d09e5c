/** Progress per chain and minute, retained for a day. */
import { type Database, sql } from '@chainstead/db';

interface SampledChain {
  /** Decimal EVM chain id, or `aptos` or `aptos-testnet`. */
  readonly chain: string;
  readonly head: number | null;
  readonly checkpoint: number | null;
  readonly covered: number;
  /** Since the server's statistics began; null: unavailable. */
  readonly rows: number | null;
}

export interface ChainSample extends SampledChain {
  readonly minute: Date;
  /** In blocks, the maximum over its minutes; null before the first block. */
  readonly lag: number | null;
}

const KEPT_HOURS = 25;

/** Deletes old samples. If several processes save within a minute, the first wins. */
export async function saveSamples(database: Database, chains: readonly SampledChain[]): Promise<void> {
  if (chains.length === 0) return;
  await database.query(
    sql`INSERT INTO chain_metrics_minutely (chain, minute, head, checkpoint, covered, rows)
     SELECT chain, date_trunc('minute', now()), head, checkpoint, covered, rows
       FROM unnest(${chains.map(({ chain }) => chain)}::text[], ${chains.map(({ head }) => head)}::bigint[], ${chains.map(({ checkpoint }) => checkpoint)}::bigint[], ${chains.map(({ covered }) => covered)}::bigint[], ${chains.map(({ rows }) => rows)}::bigint[])
         AS sampled (chain, head, checkpoint, covered, rows)
      ORDER BY chain
     ON CONFLICT (chain, minute) DO NOTHING`,
  );
  await database.query(
    sql`DELETE FROM chain_metrics_minutely WHERE minute < now() - make_interval(hours => ${KEPT_HOURS})`,
  );
}

interface SamplesRequested {
  readonly minutes: number;
  readonly step: number;
  /** @default all chains */
  readonly chain?: string;
}

export async function readChainSamples(
  database: Database,
  { minutes, step, chain }: SamplesRequested,
): Promise<ReadonlyMap<string, readonly ChainSample[]>> {
  const rows = await database.query<ChainSample>(
    sql`SELECT chain, to_timestamp(floor(extract(epoch FROM minute) / (${step} * 60)) * ${step} * 60) AS minute,
            max(head) AS head, max(checkpoint) AS checkpoint, max(covered) AS covered, max(rows) AS rows,
            max(CASE WHEN head < checkpoint THEN 0 ELSE head - checkpoint END) AS lag
       FROM chain_metrics_minutely
      WHERE minute > now() - make_interval(mins => ${minutes}) AND (${chain ?? null}::text IS NULL OR chain = ${chain ?? null})
      GROUP BY 1, 2 ORDER BY 1, 2`,
  );
  return Map.groupBy(rows, (row) => row.chain);
}

/** Rows by the statistics of partitions named after the chain id; unknown on other servers. */
const SAMPLE = sql`
  SELECT sync_chains.chain_id::text AS chain, head, checkpoint, coalesce(covered, 0) AS covered, written.rows
    FROM sync_chains
    LEFT JOIN (
      SELECT chain_id, sum(last_block - first_block + 1)::bigint AS covered FROM sync_ranges GROUP BY chain_id
    ) AS ranges ON ranges.chain_id = sync_chains.chain_id
    LEFT JOIN (
      SELECT substring(relname FROM '^(?:erc20_transfer_sides|nft_transfers|nft_trades)_(\\d+)_\\d+$') AS chain, sum(n_tup_ins)::bigint AS rows
        FROM pg_stat_user_tables WHERE schemaname = current_schema() GROUP BY 1
    ) AS written ON written.chain = sync_chains.chain_id::text
   ORDER BY sync_chains.chain_id`;

export async function sampleChains(database: Database): Promise<void> {
  await saveSamples(database, await database.query<SampledChain>(SAMPLE));
}
