import type { Chain } from '@chainstead/chains';
import { type ReadDatabase, sql } from '@chainstead/db';
import { IS_CONTRADICTED } from '@chainstead/pages';

/** Blocks with all rows of every account, without those that contradict their header. */
export async function readCoveredBlocks(
  database: ReadDatabase,
  { id }: Pick<Chain, 'id'>,
  dataset: string,
  blocks: readonly number[],
): Promise<ReadonlySet<number>> {
  if (blocks.length === 0) return new Set();
  const rows = await database.select<{ block: number }>(
    sql`SELECT wanted.block FROM unnest(${blocks}::bigint[]) AS wanted(block)
     WHERE EXISTS (SELECT FROM sync_ranges WHERE chain_id = ${id} AND dataset = ${dataset} AND wanted.block BETWEEN first_block AND last_block
       AND NOT (${IS_CONTRADICTED}))`,
  );
  return new Set(rows.map(({ block }) => block));
}
