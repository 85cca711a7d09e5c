import { type ExtraConfigColumn, type IndexBuilder, index } from 'drizzle-orm/pg-core';

/**
 * The index `<table>_by_block` by which rollbacks and verification find the rows of a range of blocks. Every table of a dataset
 * has one. BRIN with several ranges a page range: rows lie roughly by block, and old ranges are filled in out of order.
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
