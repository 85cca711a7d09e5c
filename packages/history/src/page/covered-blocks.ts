import type { Chain } from '@chainstead/chains';
import { IS_CONTRADICTED } from '@chainstead/data-api';
import type { ReadDatabase } from '@chainstead/db';

/**
 * Returns those of some blocks for which a chain's dataset has all rows of every account. Excludes blocks whose
 * contents contradict their header.
 */
export async function readCoveredBlocks(
  database: ReadDatabase,
  { id }: Pick<Chain, 'id'>,
  dataset: string,
  blocks: readonly number[],
): Promise<ReadonlySet<number>> {
  if (blocks.length === 0) return new Set();
  const rows = await database.select<{ block: number }>(
    `SELECT wanted.block FROM unnest($2::bigint[]) AS wanted(block)
     WHERE EXISTS (SELECT FROM sync_ranges WHERE chain_id = $1 AND dataset = $3 AND wanted.block BETWEEN first_block AND last_block
       AND NOT (${IS_CONTRADICTED}))`,
    [id, blocks, dataset],
  );
  return new Set(rows.map(({ block }) => block));
}
