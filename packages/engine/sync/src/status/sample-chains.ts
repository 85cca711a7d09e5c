import { type Database, sql } from '@chainstead/db';
import { type SampledChain, saveSamples } from './chain-samples.ts';

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
