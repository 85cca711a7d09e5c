/** Where each chain stood, by the minute: the table `chain_samples`. One row a chain and minute, kept for a day. */
import type { Database } from '@chainstead/db';

/** Where a chain stands now. */
export interface SampledChain {
  /** Id of an EVM chain in decimal; of Aptos, `aptos` or `aptos-testnet`. */
  readonly chain: string;
  readonly head: number | null;
  readonly checkpoint: number | null;
  /** Blocks covered, all datasets added up. */
  readonly covered: number;
  /** Rows written since the server's statistics began; null where it does not tell. */
  readonly rows: number | null;
}

/** Where a chain stood. */
export interface ChainSample extends SampledChain {
  /** Where several minutes were put together, the first of them. */
  readonly minute: Date;
  /** Between head and checkpoint, the largest of the minutes; null before the first block. */
  readonly lag: number | null;
}

/** So long a sample is kept. */
const KEPT_HOURS = 25;

/** Keeps where chains stand; of several that do so in one minute the first counts. Forgets what is older than a day. */
export async function saveSamples(database: Database, chains: readonly SampledChain[]): Promise<void> {
  if (chains.length === 0) return;
  await database.query(
    `INSERT INTO chain_samples (chain, minute, head, checkpoint, covered, rows)
     SELECT chain, date_trunc('minute', now()), head, checkpoint, covered, rows
       FROM unnest($1::text[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[])
         AS sampled (chain, head, checkpoint, covered, rows)
      ORDER BY chain
     ON CONFLICT (chain, minute) DO NOTHING`,
    [
      chains.map(({ chain }) => chain),
      chains.map(({ head }) => head),
      chains.map(({ checkpoint }) => checkpoint),
      chains.map(({ covered }) => covered),
      chains.map(({ rows }) => rows),
    ],
  );
  await database.query('DELETE FROM chain_samples WHERE minute < now() - make_interval(hours => $1)', [KEPT_HOURS]);
}

export interface SamplesAsked {
  /** Back from now. */
  readonly minutes: number;
  /** So many minutes are put together as one sample. */
  readonly step: number;
  /** As in {@link SampledChain}; absent: all chains. */
  readonly chain?: string;
}

/** Samples of chains, each chain's oldest first. */
export async function readChainSamples(
  database: Database,
  { minutes, step, chain }: SamplesAsked,
): Promise<ReadonlyMap<string, readonly ChainSample[]>> {
  const rows = await database.query<ChainSample>(
    `SELECT chain, to_timestamp(floor(extract(epoch FROM minute) / ($2 * 60)) * $2 * 60) AS minute,
            max(head) AS head, max(checkpoint) AS checkpoint, max(covered) AS covered, max(rows) AS rows,
            max(CASE WHEN head < checkpoint THEN 0 ELSE head - checkpoint END) AS lag
       FROM chain_samples
      WHERE minute > now() - make_interval(mins => $1) AND ($3::text IS NULL OR chain = $3)
      GROUP BY 1, 2 ORDER BY 1, 2`,
    [minutes, step, chain ?? null],
  );
  return Map.groupBy(rows, (row) => row.chain);
}
