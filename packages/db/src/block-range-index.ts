import { type ExtraConfigColumn, type IndexBuilder, index } from 'drizzle-orm/pg-core';

/**
 * The index `<table>_by_block` by which rollbacks and verification find the rows of a range of blocks. Every table of a dataset
 * has one. BRIN with several ranges a page range: rows lie roughly by block, and old ranges are filled in out of order.
 */
export function blockRangeIndex(
  table: string,
  columns: { readonly chainId: ExtraConfigColumn; readonly blockNumber: ExtraConfigColumn },
): IndexBuilder {
  return index(`${table}_by_block`)
    .using('brin', columns.chainId, columns.blockNumber.op('int8_minmax_multi_ops'))
    .with({ pages_per_range: 32, autosummarize: true });
}
