/** A dataset is declared with these. No module here opens a connection. */
export type { Subject, SubjectKind } from './coverage/subject.ts';
export {
  type CommittedBlocks,
  contractsIn,
  type Dataset,
  type DecodeContext,
  type HistoryFilter,
  type MentionedContract,
  type PrecedingRows,
  type SubjectHistories,
  type TransactionHistories,
} from './dataset/dataset.ts';
export { datasetsOf } from './dataset/datasets-of.ts';
export { eventDataset, eventRows, logDataset } from './dataset/event-dataset.ts';
export {
  joinSubjects,
  type Projection,
  type RemovedRows,
  type RowsChange,
  type SubjectProjection,
} from './dataset/projection.ts';
export { defineTable, type RowTable, timestampText } from './dataset/row-table.ts';
export {
  type BlockPart,
  deepestPart,
  type ExecutedTransaction,
  type InternalTransaction,
  type InternalTransfer,
  type WholeBlock,
} from './dataset/whole-block.ts';
export { defineSums } from './projections/define-sums.ts';
export { defineSqlLookup, keyOfLookup, type LookupShard } from './table-access/sql-lookup.ts';
