import { columnsAs, rawSql, type Sql, sql } from '@chainstead/db';
import type { Projection, RowsChange } from '@chainstead/sync/datasets';
import { swaps } from '../tables/schema.ts';
import { tickLiquidity as table } from './schema.ts';

/** Blocks, wide spans first. Each width is a multiple of the next. */
export const SPAN_BLOCKS = [262_144, 1_024] as const;

/** At pool managers only: other pools hold their tokens. */
export const tickLiquidityOfSwaps: Projection = {
  name: 'tick-liquidity',
  version: 1,
  tables: [table],
  added: (change) => [addLiquidity(change, rawSql(''))],
  removed: (change) => [addLiquidity(change, rawSql('-'))],
  // Later prices need the positions that dropped rows opened.
  dropped: () => [],
};

const swap = columnsAs(swaps, 'swap');
const WIDTHS = rawSql(SPAN_BLOCKS.map((blocks) => `(${blocks})`).join(', '));

function addLiquidity({ rows }: RowsChange, sign: Sql): Sql {
  return sql`INSERT INTO tick_liquidity AS stored (pool_key, chain_id, blocks, start, tick, pool, net)
SELECT ${swap.poolKey}, ${swap.chainId}, span.blocks, ${swap.blockNumber} - ${swap.blockNumber} % span.blocks, bound.tick, ${swap.pool}, sum(${sign}bound.net)
FROM ${rows} AS swap CROSS JOIN (VALUES ${WIDTHS}) AS span (blocks)
CROSS JOIN LATERAL (VALUES (${swap.tickLower}, ${swap.liquidityDelta}), (${swap.tickUpper}, -${swap.liquidityDelta})) AS bound (tick, net)
WHERE ${swap.vault} IS NOT NULL AND ${swap.liquidityDelta} IS NOT NULL AND ${swap.tickLower} IS NOT NULL
GROUP BY 1, 2, 3, 4, 5, 6 ORDER BY 1, 2, 3, 4, 5, 6
ON CONFLICT (pool_key, chain_id, blocks, start, tick, pool) DO UPDATE SET net = stored.net + excluded.net`;
}
