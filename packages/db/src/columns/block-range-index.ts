import { type ExtraConfigColumn, type IndexBuilder, index } from 'drizzle-orm/pg-core';

/**
 * Returns the index `<table>_by_block`, which rollbacks and verification use to find rows of a block range. Every
 * dataset table has one. BRIN with multi-minmax, because rows are only roughly in block order and old ranges are filled
 * out of order.
 * @param height the type of `blockNumber`
 */
export function blockRangeIndex(
  table: string,
  columns: { readonly chainId: ExtraConfigColumn; readonly blockNumber: ExtraConfigColumn },
  height: 'int4' | 'int8' = 'int8',
): IndexBuilder {
  return index(`${table}_by_block`)
    .using('brin', columns.chainId, columns.blockNumber.op(`${height}_minmax_multi_ops`))
    .with({ pages_per_range: 32, autosummarize: true });
}
