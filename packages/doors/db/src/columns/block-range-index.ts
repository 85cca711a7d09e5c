import { type ExtraConfigColumn, type IndexBuilder, index } from 'drizzle-orm/pg-core';

/** For rollbacks and verification. Multi-minmax BRIN: rows are only roughly in block order. */
export function blockRangeIndex(
  table: string,
  columns: { readonly chainId: ExtraConfigColumn; readonly blockNumber: ExtraConfigColumn },
  height: 'int4' | 'int8' = 'int8',
): IndexBuilder {
  return index(`${table}_by_block`)
    .using('brin', columns.chainId, columns.blockNumber.op(`${height}_minmax_multi_ops`))
    .with({ pages_per_range: 32, autosummarize: true });
}
