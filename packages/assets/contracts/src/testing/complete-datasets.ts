import type { Chain } from '@chainstead/chains';
import { type Database, sql } from '@chainstead/db';
import type { Dataset } from '@chainstead/sync/datasets';
import { coverBlocks } from '@chainstead/testkit';
import { readContractDatasets } from '../dataset/contract-datasets.ts';

/** Returns the datasets of all contracts as if all blocks of one were covered, such as creations. Real coverage stays. */
export async function readDatasetsWith(
  database: Database,
  chain: Chain,
  covered: string,
): Promise<readonly Dataset[]> {
  const [stored] = await database.query<{ ranges: object }>(
    sql`SELECT coalesce(json_agg(kept), '[]') AS ranges FROM sync_ranges AS kept`,
  );
  await database.query(sql`DELETE FROM sync_ranges`);
  await coverBlocks(database, chain.id, covered, 0, 1_000_000, 'none');
  const datasets = await readContractDatasets(database);
  await database.query(sql`DELETE FROM sync_ranges`);
  await database.query(
    sql`INSERT INTO sync_ranges SELECT * FROM jsonb_populate_recordset(null::sync_ranges, ${JSON.stringify(stored?.ranges)}::jsonb)`,
  );
  return datasets;
}
