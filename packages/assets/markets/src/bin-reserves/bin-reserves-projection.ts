import { columnsAs, rawSql, type Sql, sql } from '@chainstead/db';
import type { Projection, RowsChange } from '@chainstead/sync/datasets';
import { binChanges, binReserves as table } from './schema.ts';

/** Blocks, wide spans first. Each width is a multiple of the next. */
export const BIN_SPAN_BLOCKS = [4_194_304, 65_536, 1_024] as const;

export const binReservesOfChanges: Projection = {
  name: 'bin-reserves',
  version: 1,
  tables: [table],
  added: (change) => [addChanges(change, rawSql(''))],
  removed: (change) => [addChanges(change, rawSql('-'))],
};

const change = columnsAs(binChanges, 'change');
const WIDTHS = rawSql(BIN_SPAN_BLOCKS.map((blocks) => `(${blocks})`).join(', '));

function addChanges({ rows }: RowsChange, sign: Sql): Sql {
  return sql`INSERT INTO bin_reserves AS stored (pool_key, chain_id, blocks, start, bin, pool, amount0, amount1)
SELECT ${change.poolKey}, ${change.chainId}, span.blocks, ${change.blockNumber} - ${change.blockNumber} % span.blocks, ${change.bin}, ${change.pool},
  sum(${sign}${change.amount0}), sum(${sign}${change.amount1})
FROM ${rows} AS change CROSS JOIN (VALUES ${WIDTHS}) AS span (blocks)
GROUP BY 1, 2, 3, 4, 5, 6 ORDER BY 1, 2, 3, 4, 5, 6
ON CONFLICT (pool_key, chain_id, blocks, start, bin, pool)
DO UPDATE SET amount0 = stored.amount0 + excluded.amount0, amount1 = stored.amount1 + excluded.amount1`;
}
